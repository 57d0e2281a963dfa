/** Finds passwords, keys and PINs in sentences: "the password for prod is …", "my pin is 4821", "admin / …". */

import { beginsToken } from "../bytes.ts";
import type { Assigned } from "./assignment.ts";
import type { NameKind } from "./names.ts";
import { isReference, isScrambledLetters, isStandIn, isTechnical, isWordy } from "./value.ts";

const MAX_SENTENCE = 160;

/** `… for the staging database is now: `, `… was `: the text between the name and the value. */
const COPULA =
  /^s?(?: (?:for|of|to|on|in|at)(?: \\*[\w'"@.:/\\-]{1,64}){1,5}?| (?:you|I|we|they)(?: [\w']{1,16}){1,3})?(?: ?(?:code|number))?(?: (?:is|was|are|will be|should be|(?:is |was )?(?:set|changed|reset) to|to(?= \\*["'][^"']*\d)|[057](?= \S)|-|->|\u00e2\u0086\u0092|\u00e2\u0080\u0093)| ?[=:])(?: (?:now|still|just|currently))?:? +/;
/** `… (which is `, `…, just type `: only before what no sentence has. */
const ASIDE = /^(?: \((?:which is |it'?s |it is |is )?|, (?:just |then |so )?(?:type|enter|use|give|try) )(?=\S)/;
/** `with password …`: only if the word can't be anything else. */
const GIVEN = /\b(?:with|use|using|the|and|pass(?:word)?|for) $/i;
/** A quoted text, or a word up to the punctuation after it. */
const SAID = /^(?:(\\*["'`]|\u00e2\u0080[\u009c\u0098])([^"'`\\\n\u00e2]{4,80})["'`\\\u00e2]|([^\s"'`<>\\]{4,80}))/;

/** The value after the name in a sentence; undefined if it is not a secret. */
export function spokenAfter(
  bytes: Buffer,
  from: number,
  wordStart: number,
  nameEnd: number,
  to: number,
  kind: NameKind,
): Assigned | undefined {
  const text = bytes.toString("latin1", nameEnd, Math.min(to, nameEnd + MAX_SENTENCE));
  const copula = COPULA.exec(text);
  const isCopula = copula !== null && !/[^\w\s:=] $/.test(copula[0]);
  const before = bytes.toString("latin1", Math.max(from, wordStart - 12), wordStart);
  const earlier = kind === "password" && !copula ? saidBefore(bytes, from, wordStart) : undefined;
  if (earlier) return earlier;
  const isGiven = kind === "secret" || (kind === "password" && GIVEN.test(before));
  const isSet = /\b(?:set|reset|chang|updat)\w* (?:\w+ ){0,3}$/i.test(
    bytes.toString("latin1", Math.max(from, wordStart - 40), wordStart),
  );
  const aside = copula || kind !== "password" ? null : (isSet ? /^ to (?=\S)/ : ASIDE).exec(text);
  const skipped = copula ? copula[0].length : aside ? aside[0].length : isGiven ? 1 : -1;
  if (skipped < 0) return undefined;
  const said = SAID.exec(text.slice(skipped));
  if (!said) return undefined;
  const quoted = said[2] !== undefined;
  const value = quoted ? said[2] : withoutPunctuation(said[3] ?? "");
  if (value === undefined || !isSaid(value, kind, quoted, isCopula, text.slice(skipped + value.length)))
    return undefined;
  const start = nameEnd + skipped + (said[1]?.length ?? 0);
  const end = start + value.length;
  return { start, end, quoted, tight: false, constant: false, inCode: false, certain: kind === "password" };
}

/** "use … as the password" */
export function saidBefore(bytes: Buffer, from: number, wordStart: number): Assigned | undefined {
  const start = Math.max(from, wordStart - 80);
  const text = bytes.toString("latin1", start, wordStart);
  const match =
    /\b(?:use|using|set|enter|try|with) ["'`]?([^\s"'`<>\\]{6,40})["'`]? as (?:the |your |my |a |its )?(?:\w+ )?$/i.exec(
      text,
    );
  const value = match?.[1] ?? "";
  if (!match || !isSaid(value, "password", false, false, "")) return undefined;
  const first = start + match.index + match[0].indexOf(value);
  return {
    start: first,
    end: first + value.length,
    quoted: false,
    tight: false,
    constant: false,
    inCode: false,
    certain: true,
  };
}

/** The password of "credentials: admin / …", where the first word ends at `end`. */
export function loginAfter(
  bytes: Buffer,
  from: number,
  wordStart: number,
  end: number,
  to: number,
): { start: number; end: number } | undefined {
  if (!beginsToken(bytes, from, wordStart)) return undefined;
  const match = LOGIN.exec(bytes.toString("latin1", end, Math.min(to, end + MAX_SENTENCE)));
  const value = match && withoutPunctuation(match[2] ?? "");
  if (!match || !value || isStandIn(value) || isReference(value) || isTechnical(value)) return undefined;
  if (/[/:=()]/.test(value)) return undefined;
  if (!isScrambledLetters(value)) {
    if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return undefined;
    if (match[1] !== " / " && isWordy(value)) return undefined;
  }
  const start = end + match[0].length;
  return { start, end: start + value.length };
}

const LOGIN =
  /^s?(?:(?: (?:is|are))? ?[:=]| (?:is|are)|(?: in)? (?:with|as))\s*["'`]?[\w.@+-]{2,40}["'`]?( \/ |\/|:| : | and ["'`]| )["'`]?(?=([^\s"'`<>\\,;|&]{6,60}))/;

function isSaid(value: string, kind: NameKind, quoted: boolean, isCopula: boolean, rest: string): boolean {
  if (kind === "pin") return /^\d{4,8}$/.test(value);
  if (kind !== "password") return !/\s/.test(value) && (isCopula || isToken(value));
  if (isStandIn(value) || isReference(value) || PREDICATE.test(value) || isTechnical(value)) return false;
  if (/\s/.test(value))
    return quoted && isCopula && (/^[a-z]+(?: [a-z]+){3,}$/.test(value) || areScrambledWords(value));
  if (/[/:=,()]/.test(value) && !/\d/.test(value)) return false;
  if (/^\d{4,10}$/.test(value)) return isCopula && endsSentence(rest, quoted);
  const mixed = /\d/.test(value) && /[A-Za-z]/.test(value);
  if (isScrambledLetters(value)) return true;
  if (!isWordy(value)) return mixed || /[!@#$%^&*+~?]/.test(value.replace(/[!?]{1,4}$/, ""));
  if (!isCopula) return false;
  if (mixed) return !/[-_.:/]/.test(value);
  if (/^[a-z]{3,12}(?:-[a-z]{3,12}){3,}$/.test(value)) return true;
  return /^[a-z]{6,}$|^[a-z]{4,}-[a-z]{4,}$/.test(value) && endsSentence(rest, quoted);
}

/** Words, two of which have letters and digits. */
function areScrambledWords(value: string): boolean {
  const words = value.split(" ");
  const mixed = words.filter((word) => word.length >= 4 && /\d/.test(word) && /[A-Za-z]/.test(word));
  return mixed.length >= 2 && words.every((word) => /^[\w!@#$%^&*+-]+$/.test(word));
}

/** True if nothing follows that makes it a statement about passwords. */
function endsSentence(rest: string, quoted: boolean): boolean {
  return quoted || /^[.,;!?)]?\s*(?:$|["\\\n&])/.test(rest);
}

/** Statements about passwords: "… is required", "… is not encrypted", "… is case-sensitive". */
const PREDICATE =
  /^(?:not|the|this|that|your|their|its|a|an|too|in|on|at|as|to|for|of|from|by|with|only|also|always|never|now|still|yet|already|both|either|what|which|where|when|how|why|if|then|than|so|such|same|different|wrong|right|correct|incorrect|invalid|valid|empty|blank|missing|absent|present|weak|strong|short|long|secure|insecure|safe|unsafe|plain|plaintext|cleartext|clear|hidden|visible|secret|public|private|optional|mandatory|necessary|needed|unknown|unset|null|none|undefined|random|unique|fine|okay|good|bad|case|expired|stored|changed|longer|shorter|stale|obsolete|nothing|something|anything|sensitive|identical|equal|simple|complex|irrelevant|important|available|unavailable|unchanged|impossible|possible|ready|done|there|here|being|going|supposed|about|enough|again|broken|leaked|known|given|taken|written|chosen|shown|sent|kept|lost|found|forgotten|default|changeme|local|global|constant|static|dynamic)$|(?:ed|ing|able|ible|ly|less|ful|ous|ive)$|^(?:re|un|in|im|non|pre)-|sensitive|characters?$/i;
/** `ngrok authtoken …`: long, mixed, and not a checksum. */
function isToken(value: string): boolean {
  if (/^[0-9a-f]{32}$/.test(value) || (/^[A-Z2-7]{16,64}$/.test(value) && /\d/.test(value))) return true;
  if (!/^[\w+/=-]{20,200}$/.test(value) || /^[0-9a-f-]+$/.test(value)) return false;
  return (value.match(/\d/g)?.length ?? 0) >= 3 && /[A-Za-z]/.test(value) && !isWordy(value);
}

function withoutPunctuation(value: string): string {
  return value.replace(/&[\w.-]+=.*$/, "").replace(/[.,;:)\]]{1,8}$/, "");
}
