/**
 * Finds secrets in a special format that a word announces: `://`, `-----BEGIN`, `Cookie`, `mysql`, `Authorization`.
 */

import { beginsToken } from "../bytes.ts";
import { type Candidate, WEIGHT } from "../candidate.ts";
import {
  authorizationAfter,
  credentialsAfter,
  jwkParts,
  lastOfPgpass,
  loginInAddress,
  loginInOption,
  oneTimeSecret,
  type PrivateKeys,
  puttyKey,
  type Span,
} from "./blocks.ts";
import {
  CODE_KEY_WORDS,
  CODE_WORDS,
  codesAfter,
  cookieOfJar,
  FOREIGN_WORDS,
  foreignAfter,
  insertedAfter,
  typedAfter,
} from "./codes.ts";
import { COMMAND_WORDS, passwordsOf } from "./commands.ts";
import { cookiesAfter } from "./cookies.ts";
import { declaredAround } from "./manifests.ts";
import { loginAfter } from "./prose.ts";
import { continuation, isLineEnd } from "./wrapped.ts";

export type Own =
  | "address"
  | "private-key"
  | "putty-key"
  | "credentials"
  | "authorization"
  | "login"
  | "spoken-login"
  | "command"
  | "cookie"
  | "one-time"
  | "jwk"
  | "pgpass"
  | "declared"
  | "codes"
  | "typed"
  | "foreign"
  | "inserted"
  | "cookie-jar"
  | "percent";

export const OWN: Readonly<Record<string, Own>> = {
  "://": "address",
  "-----begin": "private-key",
  "---- begin": "private-key",
  "private-lines: ": "putty-key",
  "bearer ": "credentials",
  "basic ": "credentials",
  authorization: "authorization",
  " -u ": "login",
  " --user ": "login",
  login: "spoken-login",
  credential: "spoken-login",
  creds: "spoken-login",
  cookie: "cookie",
  "otpauth://": "one-time",
  '"kty': "jwk",
  ":5432:": "pgpass",
  "kind: secret": "declared",
  '"secret"': "declared",
  '"secret\\': "declared",
  sensitive: "declared",
  random_password: "declared",
  "sendline(": "typed",
  "send ": "typed",
  "log in": "spoken-login",
  "logs in": "spoken-login",
  "logged in": "spoken-login",
  "sign in": "spoken-login",
  "signs in": "spoken-login",
  account: "spoken-login",
  "insert into": "inserted",
  "\ttrue\t": "cookie-jar",
  "\tfalse\t": "cookie-jar",
  "%": "percent",
  ...Object.fromEntries([...CODE_WORDS, ...CODE_KEY_WORDS].map((word) => [word, "codes" as const])),
  ...Object.fromEntries(FOREIGN_WORDS.map((word) => [word, "foreign" as const])),
  ...Object.fromEntries(COMMAND_WORDS.map((word) => [word, "command" as const])),
};
/** The text that is scanned, and the state of the scan. */
export interface OwnState {
  bytes: Buffer;
  from: number;
  to: number;
  keys: PrivateKeys;
  /** The end of the last key in JSON, and of the last cookies. */
  jwk: number;
  cookies: number;
  /** The end of the last object that declares its values secret. */
  declared: number;
}

export function ownAt(own: Exclude<Own, "percent">, start: number, end: number, state: OwnState): Candidate[] {
  const { bytes, from, to, keys } = state;
  const as = (rule: string, weight: number, ...spans: (Span | undefined)[]): Candidate[] =>
    spans.flatMap((span) => (span ? [{ rule, ...span, weight }] : []));
  switch (own) {
    case "private-key":
      return as("private-key", WEIGHT.block, keys.at(bytes, start, to));
    case "putty-key":
      return as("private-key", WEIGHT.block, puttyKey(bytes, end, to));
    case "address":
      return as("url-password", WEIGHT.address, loginInAddress(bytes, end, to));
    case "login":
      return as("password", WEIGHT.named, loginInOption(bytes, end, to));
    case "spoken-login":
      return as("password", WEIGHT.named, loginAfter(bytes, from, start, end, to));
    case "command":
      return as("password", WEIGHT.named, ...passwordsOf(bytes, from, start, end, to));
    case "cookie": {
      if (start < state.cookies) return [];
      const { spans, end: last } = cookiesAfter(bytes, end, to);
      state.cookies = last;
      return as("session", WEIGHT.named, ...spans.map((span) => withContinuation(bytes, span, to)));
    }
    case "pgpass":
      return as("password", WEIGHT.named, lastOfPgpass(bytes, end, to));
    case "one-time":
      return as("otp-secret", WEIGHT.named, oneTimeSecret(bytes, end, to));
    case "authorization": {
      const span = authorizationAfter(bytes, end, to);
      return as("authorization", WEIGHT.named, span && withContinuation(bytes, span, to));
    }
    case "jwk": {
      if (start < state.jwk) return [];
      const parts = jwkParts(bytes, Math.max(from, state.jwk), start, to);
      state.jwk = parts.end;
      return as("private-key", WEIGHT.named, ...parts.spans);
    }
    case "declared": {
      if (start < state.declared) return [];
      const { spans, end: last } = declaredAround(bytes, Math.max(from, state.declared), start, end, to);
      state.declared = last;
      return as("secret", WEIGHT.named, ...spans);
    }
    case "codes":
      return beginsToken(bytes, from, start, true)
        ? as("recovery-code", WEIGHT.named, ...codesAfter(bytes, end, to))
        : [];
    case "typed":
      return as("password", WEIGHT.named, typedAfter(bytes, from, start, end, to));
    case "foreign":
      return as("password", WEIGHT.named, foreignAfter(bytes, end, to));
    case "inserted":
      return as("password", WEIGHT.named, ...insertedAfter(bytes, end, to));
    case "cookie-jar":
      return as("session", WEIGHT.named, cookieOfJar(bytes, end, to));
    case "credentials":
      return beginsToken(bytes, from, start)
        ? as("authorization", WEIGHT.named, credentialsAfter(bytes, start, end, to))
        : [];
  }
}

/** A range of a header, including the next line if the header continues there. */
function withContinuation(bytes: Buffer, span: Span, to: number): Span {
  const more = isLineEnd(bytes, span.end, to) ? continuation(bytes, span.end, to) : undefined;
  return { start: span.start, end: more?.end ?? span.end };
}
