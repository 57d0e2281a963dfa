/** Light, dark, or as the system says. */
import { useState } from "preact/hooks";
import { recall, remember } from "../data/choices.ts";

const KEY = "backtrail.theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const SIGNS = { system: "◐", light: "☀", dark: "☾" } as const;

export function applyTheme(theme: Theme = stored()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function stored(): Theme {
  const value = recall(KEY);
  return THEMES.find((theme) => theme === value) ?? "system";
}

export function ThemeButton() {
  const [theme, setTheme] = useState(stored);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <button
      type="button"
      class="quiet icon"
      aria-label={`Colors: ${theme}. Change to ${next}`}
      title={`Colors: ${theme}`}
      onClick={() => {
        remember(KEY, next);
        applyTheme(next);
        setTheme(next);
      }}
    >
      <span aria-hidden="true">{SIGNS[theme]}</span>
    </button>
  );
}
