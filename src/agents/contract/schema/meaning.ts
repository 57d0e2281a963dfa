/** Checks what a schema can't express: parts of a profile that need each other, and regular expressions. */
import { RE2JS } from "re2js";
import type { Profile } from "../schema.ts";
import type { Conditions } from "./values.ts";

export function semanticProblems(profile: Profile): string[] {
  return [
    ...detectionProblems(profile),
    ...hookProblems(profile),
    ...transcriptProblems(profile),
    ...runProblems(profile),
    ...regexProblems(profile),
  ];
}

function detectionProblems({ detection }: Profile): string[] {
  return detection.score_rules.flatMap((rule, i) =>
    Object.keys(rule).length < 2 ? [`detection.score_rules.${i}: needs a condition beside its score`] : [],
  );
}

function hookProblems({ hooks }: Profile): string[] {
  if (!hooks) return [];
  const problems: string[] = [];
  for (const [native, hook] of Object.entries(hooks.install)) {
    if (hooks.events[native] === undefined) {
      problems.push(`hooks.install.${native}: hooks.events doesn't say what "${native}" (${hook.verb}) means`);
    }
  }
  for (const [scope, settings] of Object.entries(hooks.settings)) {
    if (settings?.format !== "script-per-event") continue;
    for (const native of Object.keys(hooks.install)) {
      if (!/^[A-Za-z0-9_-]+$/.test(native)) {
        problems.push(`hooks.install.${native}: can't be the name of a script (hooks.settings.${scope})`);
      }
    }
  }
  if (hooks.template && !hooks.template.some((line) => line.includes("{{hooks}}"))) {
    problems.push("hooks.template: no line has {{hooks}}, so the file would call nothing");
  }
  return problems;
}

function transcriptProblems({ transcript, resume, start }: Profile): string[] {
  const problems: string[] = [];
  const lines = transcript?.lines;
  if (transcript && lines) {
    if (transcript.format === "json" && !lines.list) {
      problems.push("transcript.lines.list: missing: where in the document is the list of messages?");
    }
    if (transcript.format === "jsonl" && lines.list) problems.push("transcript.lines.list: only a document has one");
    if (!lines.rules && !lines.types) problems.push("transcript.lines: needs rules, or type and types");
  }
  if (transcript?.fork && (!lines || !resume)) problems.push("transcript.fork: needs transcript.lines and resume");
  if (transcript?.place && !transcript.place.includes("{session}")) {
    problems.push("transcript.place: names no {session}");
  }
  if (transcript && resume && !resume.some((part) => part.includes("{session}"))) {
    problems.push("resume: names no {session}");
  }
  if (start && !start.includes("{prompt}")) problems.push("start: has no word {prompt}");
  return problems;
}

/** Reports missing placeholders without which a run would have no prompt or no session to continue. */
function runProblems(profile: Profile): string[] {
  const run = profile.run;
  if (!run) return [];
  const problems: string[] = [];
  if (!profile.executable) problems.push("run: needs the profile's executable");
  if (run.stdin !== true && !run.command.some((word) => word.includes("{prompt}"))) {
    problems.push("run.command: names no {prompt}");
  }
  const needed = { model: run.model?.words, session: run.resume ?? run.new_session?.words, context: run.context };
  for (const [place, words] of Object.entries(needed)) {
    if (words && !run.command.includes(`{${place}}`)) problems.push(`run.command: has no place {${place}}`);
  }
  if (run.stream.session_from === "files" && !profile.transcript?.place) {
    problems.push("transcript.place: missing; stream.session_from needs files somewhere");
  }
  if (run.ask && run.stdin !== true && !run.ask.some((word) => word.includes("{prompt}"))) {
    problems.push("run.ask: names no {prompt}");
  }
  if (!run.command.includes("{args}")) problems.push("run.command: has no place {args}");
  const { stream } = run;
  if (stream.output !== "text" && stream.end !== "exit" && !stream.rules.some(({ is }) => is === "end")) {
    problems.push('run.stream: no rule is an "end"; with "end": "exit" the process tells it');
  }
  return problems;
}

function regexProblems(profile: Profile): string[] {
  const { detection, transcript, run, hooks } = profile;
  const found: [string, string | undefined][] = [
    ...detection.score_rules.map((rule, i): [string, string | undefined] => [
      `detection.score_rules.${i}.path_matches`,
      rule.path_matches?.regex,
    ]),
    ["transcript.lines.prompt_text", transcript?.lines?.prompt_text],
    ["run.stream.session_pattern", run?.stream.session_pattern],
    ...(transcript?.lines?.rules ?? []).flatMap((rule, i) => [
      ...patternsIn(`transcript.lines.rules.${i}.when`, rule.when),
      ...patternsIn(`transcript.lines.rules.${i}.each`, rule.each),
      ...patternsIn(`transcript.lines.rules.${i}.failed_when`, rule.failed_when),
    ]),
    ...(run?.stream.rules ?? []).flatMap((rule, i) => [
      ...patternsIn(`run.stream.rules.${i}.when`, rule.when),
      ...patternsIn(`run.stream.rules.${i}.each`, rule.each),
    ]),
    ...Object.entries(hooks?.events ?? {}).flatMap(([native, meaning]) =>
      typeof meaning === "string"
        ? []
        : [meaning].flat().flatMap(({ when }) => patternsIn(`hooks.events.${native}.when`, when)),
    ),
  ];
  return found.flatMap(([at, pattern]) => {
    if (pattern === undefined || isLinear(pattern)) return [];
    return [`${at}: not a regular expression without look-around and back-references`];
  });
}

function patternsIn(at: string, conditions: Conditions | undefined): [string, string | undefined][] {
  return Object.entries(conditions ?? {}).map(([path, wanted]) => [
    `${at}.${path}`,
    typeof wanted === "object" && wanted !== null && !Array.isArray(wanted) ? wanted.matches : undefined,
  ]);
}

/** RE2 has nothing that could take more than linear time. */
function isLinear(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false;
  }
}
