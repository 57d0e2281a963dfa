/** All that is fuzzed, the cheapest first. */
import type { Target } from "../target.ts";
import { checkpoints, metadata } from "./checkpoints.ts";
import { configuration } from "./configuration.ts";
import { hooks } from "./hooks.ts";
import { mcp } from "./mcp.ts";
import { payloads } from "./payloads.ts";
import { profiles } from "./profiles.ts";
import { protocol } from "./protocol.ts";
import { query } from "./query.ts";
import { refs } from "./refs.ts";
import { settings } from "./settings.ts";
import { store } from "./store.ts";
import { text } from "./text.ts";
import { transcripts } from "./transcripts.ts";

export const TARGETS: readonly Target[] = [
  text,
  query,
  payloads,
  metadata,
  configuration,
  settings,
  transcripts,
  profiles,
  protocol,
  checkpoints,
  hooks,
  mcp,
  store,
  refs,
];
