/** Shows Markdown from an agent as elements. The text is hostile: no part of it becomes markup or loads anything. */

import { useMemo, useState } from "preact/hooks";
import { grouped } from "../text/format.ts";
import { familyOf } from "../text/highlight.ts";
import { type Block, parseMarkdown, type Span } from "../text/markdown.ts";
import { visible } from "../text/visible.ts";
import { Code } from "./code.tsx";

/** Longer texts are shown in part until the rest is asked for. */
const MAX_TEXT = 30_000;

export function Markdown({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const isLong = text.length > MAX_TEXT && !all;
  const blocks = useMemo(() => parseMarkdown(wrapLines(visible(isLong ? text.slice(0, MAX_TEXT) : text))), [text, all]);
  return (
    <div class="markdown">
      {blocks.map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
      {isLong && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {grouped(text.length)} characters
        </button>
      )}
    </div>
  );
}

/** A line of megabytes would stop the browser: it is broken where no person would read it anyway. */
function wrapLines(text: string): string {
  return text.replace(/[^\n]{4000}/g, "$&\n");
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Spans spans={block.spans} />
        </p>
      );
    case "heading":
      // The page has its own headings, so headings in a text are only bold.
      return (
        <p class={`md-heading md-${Math.min(block.level, 3)}`}>
          <Spans spans={block.spans} />
        </p>
      );
    case "code":
      return <CodeBlock text={block.text} language={block.language} />;
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((blocks, i) => (
        <li key={i}>
          <Blocks blocks={blocks} tight />
        </li>
      ));
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <div class="md-table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, i) => (
                  <th key={i}>
                    <Spans spans={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, k) => (
                    <td key={k}>
                      <Spans spans={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "rule":
      return <hr />;
  }
}

/** A list item of one paragraph needs no paragraph. */
function Blocks({ blocks, tight = false }: { blocks: Block[]; tight?: boolean }) {
  const [first, ...rest] = blocks;
  if (tight && first?.kind === "paragraph")
    return (
      <>
        <Spans spans={first.spans} />
        {rest.map((block, i) => (
          <BlockView key={i} block={block} />
        ))}
      </>
    );
  return (
    <>
      {blocks.map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
    </>
  );
}

function Spans({ spans }: { spans: readonly Span[] }) {
  return (
    <>
      {spans.map((span, i) => (
        <SpanView key={i} span={span} />
      ))}
    </>
  );
}

function SpanView({ span }: { span: Span }) {
  switch (span.kind) {
    case "text":
      return <>{span.text}</>;
    case "code":
      return <code>{span.text}</code>;
    case "strong":
      return (
        <strong>
          <Spans spans={span.spans} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Spans spans={span.spans} />
        </em>
      );
    case "strike":
      return (
        <s>
          <Spans spans={span.spans} />
        </s>
      );
    case "link":
      return (
        <a href={span.href} target="_blank" rel="noreferrer noopener" title={span.href}>
          <Spans spans={span.spans} />
        </a>
      );
  }
}

function CodeBlock({ text, language }: { text: string; language: string }) {
  const family = familyOf(`x.${language}`);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls sideways must be reachable by keyboard
    <pre class="code-block" tabIndex={0}>
      <code>
        {text.split("\n").map((line, i) => (
          <span key={i}>
            <Code text={line} family={family} />
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}
