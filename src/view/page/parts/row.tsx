/** One row of a list: a title, facts below it, and a link to the page. */
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
