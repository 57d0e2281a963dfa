/** The entries of a conversation: prompts, answers, thinking, tool calls with their results, compactions. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ConversationEntry, SessionTurn } from "../../../protocol.ts";
import { to } from "../../data/router.ts";
import { useQuery } from "../../data/use-query.ts";
import { FateTag } from "../../parts/badges.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { useApp } from "../../shell/context.ts";
import { clock } from "../../text/format.ts";
import { line, visible } from "../../text/visible.ts";

interface Props {
  entries: readonly ConversationEntry[];
  session: string;
  turns: readonly SessionTurn[];
  /** The indexes of entries with images. */
  withImages?: ReadonlySet<number>;
}

export function Entries({ entries, session, turns, withImages }: Props) {
  const results = new Map(
    entries.flatMap((entry) => (entry.type === "tool-result" && entry.tool?.id ? [[entry.tool.id, entry]] : [])),
  );
  const uses = new Set(entries.flatMap(({ type, tool }) => (type === "tool-use" && tool?.id ? [tool.id] : [])));
  const imagesOf = ({ index }: ConversationEntry) =>
    withImages?.has(index) ? <Images session={session} index={index} /> : null;
  return (
    <>
      {entries.map((entry, i) => {
        const call = entry.tool?.id ?? "";
        // A result is in the row of its call, if that is loaded.
        if (entry.type === "tool-result" && uses.has(call)) return null;
        if (entry.type === "tool-use") {
          const result = results.get(call);
          return (
            <div key={entry.index}>
              <Folded entry={entry} session={session} result={result} />
              {result && imagesOf(result)}
            </div>
          );
        }
        const turn = entry.type === "prompt" ? turns.find(({ number }) => number === entry.number) : undefined;
        const first =
          turn !== undefined && !entries.slice(0, i).some((e) => e.type === "prompt" && e.number === entry.number);
        return (
          <EntryView key={entry.index} entry={entry} session={session} turn={first ? turn : undefined}>
            {imagesOf(entry)}
          </EntryView>
        );
      })}
    </>
  );
}

interface ViewProps {
  entry: ConversationEntry;
  session: string;
  turn: SessionTurn | undefined;
  children: ComponentChildren;
}

function EntryView({ entry, session, turn, children }: ViewProps) {
  switch (entry.type) {
    case "prompt":
      return (
        <section
          class="entry-prompt bubble prompt-text"
          id={turn ? `prompt-${turn.number}` : undefined}
          aria-label={`Prompt ${entry.number}`}
        >
          <p class="entry-head muted">
            <span>Prompt {entry.number}</span>
            <span>{clock(entry.time)}</span>
            {turn?.fate != null && <FateTag fate={turn.fate} />}
            <span class="grow" />
            {turn?.id != null && <a href={to("turn", [turn.id])}>Show the turn</a>}
          </p>
          <Text entry={entry} session={session} />
          {children}
        </section>
      );
    case "answer":
      return (
        <div class="entry-answer">
          <Text entry={entry} session={session} />
          {children}
        </div>
      );
    case "compaction":
      return (
        <p class="compaction muted">
          <span>The agent compacted its context here</span>
        </p>
      );
    case "note":
      return <p class="muted entry-note">{line(entry.text, 500)}</p>;
    default:
      return (
        <div>
          <Folded entry={entry} session={session} result={undefined} />
          {children}
        </div>
      );
  }
}

function Images({ session, index }: { session: string; index: number }) {
  const { data } = useQuery("entryImages", { session, index: String(index) });
  if (!data || data.images.length === 0) return null;
  return (
    <div class="pictures">
      {data.images.map(({ mediaType, base64 }, i) => (
        <img key={i} src={`data:${mediaType};base64,${base64}`} alt={`Attachment ${i + 1} of ${data.images.length}`} />
      ))}
    </div>
  );
}

const LABELS = { thinking: "Thinking", "tool-use": "Tool", "tool-result": "Result" } as const;

interface FoldedProps {
  entry: ConversationEntry;
  session: string;
  /** What a tool call returned. */
  result: ConversationEntry | undefined;
}

function Folded({ entry, session, result }: FoldedProps) {
  const label = entry.tool?.name ?? LABELS[entry.type as keyof typeof LABELS] ?? "Entry";
  // A result has no title: its first words say more than the tool's name again.
  const title = entry.type === "tool-use" ? (entry.tool?.title ?? "") : entry.text;
  return (
    <details class={`entry-fold ${entry.type}`}>
      <summary>
        <span class="tool">{line(label, 40)}</span>
        <span class="title mono muted">{line(title, 200)}</span>
        {(entry.failed || result?.failed) && <span class="tag failed">failed</span>}
      </summary>
      {entry.tool && entry.tool.input !== "" && <pre class="code-block wrap">{visible(entry.tool.input)}</pre>}
      {entry.text !== "" && <Text entry={entry} session={session} plain={entry.type !== "thinking"} />}
      {result && result.text !== "" && <Text entry={result} session={session} plain />}
    </details>
  );
}

function Text({ entry, session, plain = false }: { entry: ConversationEntry; session: string; plain?: boolean }) {
  const [all, setAll] = useState(false);
  const { data } = useQuery("entry", all ? { session, index: String(entry.index) } : null);
  const { exportedAt } = useApp();
  const text = data?.text ?? entry.text;
  return (
    <>
      {plain ? <pre class="code-block wrap">{visible(text)}</pre> : <Markdown text={text} />}
      {entry.shortened && exportedAt !== null && <p class="muted">The rest was left out of this file.</p>}
      {entry.shortened && exportedAt === null && !data && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all of it
        </button>
      )}
    </>
  );
}
