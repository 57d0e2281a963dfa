/** One row of a list: what it is, facts about it below, and a link to the whole. */
import type { ComponentChildren } from "preact";

export function Row({ href, title, children }: { href: string; title: string; children: ComponentChildren }) {
  return (
    <li>
      <a class="row" href={href}>
        <span class="row-main">
          <span class="prompt">{title}</span>
          <span class="second">{children}</span>
        </span>
      </a>
    </li>
  );
}
