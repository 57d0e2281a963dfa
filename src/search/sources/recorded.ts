/** The conversations of recorded and imported sessions: from the agent's file while it exists, otherwise from our copy. */
import { join } from "node:path";
import { type ImportedSession, importedSessions, importedTranscript } from "../../checkpoints/import/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { sessionRefKey } from "../../model/session.ts";
import { keyOf, listSessions, type SessionState } from "../../recording/session/store.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import type { TranscriptSource } from "./transcript.ts";
import { openTranscriptFile, storedTranscript, type TranscriptBytes } from "./transcript-bytes.ts";

export interface FoundTranscript extends TranscriptSource {
  /** Milliseconds since 1970, to index the newest first. */
  time: number;
  open(): Promise<TranscriptBytes | undefined>;
}

export async function recordedTranscripts(workspace: Workspace): Promise<FoundTranscript[]> {
  const recorded = listSessions(workspace).flatMap((state) => recordedTranscript(workspace, state) ?? []);
  const known = new Set(recorded.map(sessionRefKey));
  const imported = (await importedSessions(workspace)).filter((session) => !known.has(sessionRefKey(session)));
  return [...recorded, ...imported.map((session) => importedSource(workspace, session))];
}

function recordedTranscript(workspace: Workspace, state: SessionState): FoundTranscript | undefined {
  const { transcript } = state;
  if (!transcript) return undefined;
  const time = Date.parse(state.updatedAt) || 0;
  return {
    ...common(workspace, state.agent, state.id),
    origin: transcript.path,
    isDocument: transcript.document === true,
    time,
    async open() {
      const file = openTranscriptFile(transcript.path);
      if (file && (transcript.document || file.size >= transcript.stored)) return file;
      file?.close();
      const { generation, stored } = transcript;
      return storedTranscript(await readTranscript(workspace, keyOf(state), generation, stored), time);
    },
  };
}

function importedSource(workspace: Workspace, session: ImportedSession): FoundTranscript {
  const time = Date.parse(session.importedAt) || 0;
  return {
    ...common(workspace, session.agent, session.session),
    origin: join(workspace.storeDir, "imported", session.session),
    isDocument: false,
    time,
    async open() {
      const bytes = await importedTranscript(workspace, session);
      return bytes === null ? undefined : storedTranscript(Buffer.from(bytes), time);
    },
  };
}

function common({ root, storeDir }: Workspace, agent: string, session: string) {
  return { agent, session, part: "", repository: root, store: storeDir };
}
