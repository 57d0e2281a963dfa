/**
 * Finds passwords in command lines, by the options of programs that take one: `mysql -p…`, `sshpass -p …`, `curl -u
 * me:…`.
 */

import { beginsToken, isWord } from "../bytes.ts";
import type { Span } from "./blocks.ts";
import { isStandIn } from "./value.ts";

const MAX_COMMAND = 400;
/** A word of a command line; quotes around it are not part of it. */
const WORD = String.raw`(?:\\*"([^"\\\s]{3,128})\\*"|'([^'\\\s]{3,128})'|([^\s"'\x60\\|;&<>()]{3,128}))`;

/** The password is the last group that matched. */
function option(before: string): RegExp {
  return new RegExp(`(?:^|\\s)${before}${WORD}`, "g");
}

/** Must match right after the word. */
const FIRST = new RegExp(`^ ${WORD}`, "g");
const MYSQL = [option("-p"), option("--password[= ]")];
const STORE_PASSWORD = [option("-(?:src|dest|new)?(?:store|key)pass(?::env)? ")];
const DIRECTORY = [option("-w ")];
/** Communities are passwords, too, but for the two that everybody knows. */
const SNMP = [option("-[AX] "), option("-c (?!public|private)")];
/** `NAME=…`: all of them are secret. */
const SETTINGS = [option(String.raw`[A-Za-z_][\w.-]{0,63}=`)];
const CURL = [
  option("--oauth2-bearer "),
  option(String.raw`(?:-u|--user|-U|--proxy-user)[= ]?["']?[\w.@+%-]{1,64}:`),
  /(?:^|\s)(?:-b|--cookie)[= ]?["']?(?:[^"'\s]*; ?)?[\w.-]+=(?:([^;"'\s\\]{16,400}))/g,
];

const COMMANDS: Readonly<Record<string, readonly RegExp[]>> = {
  mysql: MYSQL,
  mysqldump: MYSQL,
  mysqladmin: MYSQL,
  mysqlimport: MYSQL,
  mariadb: MYSQL,
  "mariadb-dump": MYSQL,
  sshpass: [option("-p ?")],
  "redis-cli": [option("(?:-a|--pass) ")],
  mongo: [option("(?:-p|--password)[= ]?")],
  mongosh: [option("(?:-p|--password)[= ]?")],
  mongodump: [option("(?:-p|--password)[= ]?")],
  mongorestore: [option("(?:-p|--password)[= ]?")],
  ldapsearch: DIRECTORY,
  ldapadd: DIRECTORY,
  ldapmodify: DIRECTORY,
  ldapwhoami: DIRECTORY,
  smbclient: [option(String.raw`(?:-U|--user)[= ]?\\*["']?[\w.\\/@-]{1,64}%`)],
  sqlcmd: [option("-P ?")],
  bcp: [option("-P ?")],
  unzip: [option("-P ?")],
  zip: [option("(?:-P ?|--password )")],
  "7z": [option("-p")],
  "7za": [option("-p")],
  keytool: STORE_PASSWORD,
  jarsigner: STORE_PASSWORD,
  openssl: [option(`-pass(?:in|out|word)? ["']?pass:`), option("-k ")],
  htpasswd: [option(String.raw`-[a-zA-Z]*b[a-zA-Z]* (?:\S+ )?\S+ `)],
  xfreerdp: [option("/p:")],
  isql: [option("-P ?")],
  cqlsh: [option("-p ?")],
  sqlplus: [option(String.raw`(?:-\w+ )*[\w.]{1,40}/`)],
  nmcli: [option("password ")],
  wpa_passphrase: [new RegExp(`^ \\S+ ${WORD}`, "g")],
  snmpget: SNMP,
  snmpset: SNMP,
  snmpwalk: SNMP,
  snmpbulkwalk: SNMP,
  snmptrap: SNMP,
  "rabbitmqctl add_user": [new RegExp(`^ \\S+ ${WORD}`, "g")],
  "rabbitmqctl change_password": [new RegExp(`^ \\S+ ${WORD}`, "g")],
  encrypt_string: [FIRST],
  "config set --secret": [new RegExp(`^ \\S+ ${WORD}`, "g")],
  "cf login": [option("-p ")],
  "oc login": [option("-p ")],
  "argocd login": [option("--password ")],
  "docker login": [option("-p ")],
  "podman login": [option("-p ")],
  "az login": [option("-p ")],
  "helm registry login": [option("-p ")],
  rar: [option("-h?p")],
  lftp: [option(String.raw`-u [\w.@-]+,`)],
  "ssh-keygen": [option("-[NP] ")],
  "convertto-securestring": [option("")],
  "mc alias set": [new RegExp(`^ \\S+ \\S+ \\S+ ${WORD}`, "g")],
  bindpw: [FIRST],
  rootpw: [FIRST],
  requirepass: [FIRST],
  masterauth: [FIRST],
  "wandb login": [FIRST],
  "snyk auth": [FIRST],
  "vault login": [FIRST],
  "net user": [new RegExp(`^\\s+[\\w.-]+ ${WORD}`, "g")],
  "net use": [
    new RegExp(String.raw`^(?: [a-zA-Z]:)? \\+\S+ ${WORD}(?= /u)`, "g"),
    new RegExp(String.raw`/user:\S+ ${WORD}`, "g"),
  ],
  "create secret": [option(String.raw`--from-literal[= ]\\*["']?[\w.-]{1,64}=`)],
  "gh secret set": [option("(?:-b|--body)[= ]")],
  "identified by": [new RegExp(`^\\s+(?:password )?(?=['"])${WORD}`, "gi")],
  "rclone obscure": [FIRST],
  "vault kv": [option(String.raw`[\w.-]{1,64}=`)],
  secretsmanager: [option("--secret-string ")],
  "ssm put-parameter": [/^(?=.*SecureString).*?(?:^|\s)--value \\{0,8}["']?([^\s"'\\]{4,400})/g],
  "fly secrets": SETTINGS,
  "flyctl secrets": SETTINGS,
  "secrets set": SETTINGS,
  "config:set": SETTINGS,
  "userpassword::": [FIRST],
  "snmp-server community": [FIRST],
  "acl setuser": [/\s>([^\s"'\\]{4,128})/g],
  "> auth": [FIRST],
  "shared-secret": [/^ (?=\S*\d)(?=\S*[A-Za-z])([^\s"'\\]{6,128})/g],
  curl: CURL,
  wget: [option("--(?:http-|ftp-|proxy-)?password[= ]")],
};

const STDIN = new RegExp(String.raw`(?:echo|printf|print)(?: -\w+)* ${WORD}(?:\\n)?["']?\s*\|\s*(?:npx )?$`);

/** These programs read a password from a pipe: `echo … | sudo -S`. */
const PIPED: Readonly<Record<string, RegExp>> = {
  "sudo -s": new RegExp(String.raw`(?:echo|printf|print)(?: -\w+)* ${WORD}(?:\\n)?["']?\s*\|\s*$`),
  "docker login": new RegExp(String.raw`(?:echo|printf|print)(?: -\w+)* ${WORD}(?:\\n)?["']?\s*\|\s*$`),
  "gcloud secrets": STDIN,
  "docker secret create": STDIN,
  "wrangler secret put": STDIN,
  "vercel env add": STDIN,
  "gh secret set": STDIN,
  chpasswd: /(?:echo|printf|print)(?: -\w+)* \\*["']?[\w.-]{1,32}:([^\s"'\\|]{4,128})\\*["']?\s*\|\s*(?:sudo )?$/,
};

const TEXT = String.raw`\\*["'][^"'\\]{1,80}\\*["']`;
const PASSWORD_TEXT = String.raw`\\*["']([^"'\\\s]{4,128})\\*["']`;
const SECOND = new RegExp(`^\\s*(?:\\w+ ?= ?)?${TEXT}\\s*,\\s*(?:\\w+ ?= ?)?${PASSWORD_TEXT}\\s*[,)]`, "s");
const THIRD = new RegExp(`^[^,()]{1,200},\\s*${TEXT}\\s*,\\s*${PASSWORD_TEXT}\\s*[,)]`, "s");

const KEY_ARGUMENT = /^[^,()]{1,80},\s*b?\\*["']([^"'\\\s]{8,128})\\*["']\s*[,)]/;

/** Calls that take a name and a password. */
const CALLS: Readonly<Record<string, RegExp>> = {
  "auth=(": SECOND,
  "auth = (": SECOND,
  ".auth(": SECOND,
  ".login(": SECOND,
  "basicauth(": SECOND,
  "networkcredential(": SECOND,
  "mysqli_connect(": THIRD,
  "mysqli(": THIRD,
  "pdo(": THIRD,
  "getconnection(": THIRD,
  "imap_open(": THIRD,
  "ftp_login(": THIRD,
  "ldap_bind(": THIRD,
  "algoliasearch(": SECOND,
  "twilio(": SECOND,
  "createhmac(": SECOND,
  "jwt.sign(": KEY_ARGUMENT,
  "jwt.verify(": KEY_ARGUMENT,
  "jwt.encode(": KEY_ARGUMENT,
  "jwt.decode(": KEY_ARGUMENT,
  "hmac.new(": /^\s*b?["']([^"'\\\s]{8,128})["']\s*,/,
  "= password(": /^\s*\\*'([^"'\\\s]{4,128})\\*'\s*\)/,
  "<auth-user-pass>": /^(?:(?:\\+r)?\\+n|\r?\n)[^\s\\<]{1,80}(?:(?:\\+r)?\\+n|\r?\n)([^\s\\<]{4,128})/,
  "wifi:": /^(?:[STH]:[^;\n]{0,80};){0,3}P:([^;\s\\]{4,80});/,
};

export const COMMAND_WORDS: readonly string[] = [
  ...new Set([...Object.keys(COMMANDS), ...Object.keys(PIPED), ...Object.keys(CALLS)]),
];

/** The passwords of the command whose name is between `start` and `end`. */
export function passwordsOf(bytes: Buffer, from: number, start: number, end: number, to: number): Span[] {
  const name = bytes.toString("latin1", start, end).toLowerCase();
  if (!CALLS[name] && isWord(bytes[start]) && !beginsToken(bytes, from, start)) return [];
  const found: Span[] = [];
  const after = bytes.toString("latin1", end, Math.min(to, end + MAX_COMMAND));
  const call = CALLS[name];
  const argument = call?.exec(after);
  if (argument) add(found, end, argument, false);
  if (COMMANDS[name] && /^(?:\.exe)?\s/.test(after)) {
    const line = commandIn(after);
    for (const pattern of COMMANDS[name]) {
      for (const match of line.matchAll(pattern)) add(found, end, match, name === "curl" && pattern === CURL[2]);
    }
  }
  const piped = PIPED[name];
  if (piped) {
    const begin = Math.max(from, start - MAX_COMMAND / 2);
    const match = piped.exec(bytes.toString("latin1", begin, start));
    if (match) add(found, begin, match, false);
  }
  return found;
}

function add(found: Span[], offset: number, match: RegExpMatchArray, isCookie: boolean): void {
  const value = match.slice(1).findLast((group) => group !== undefined) ?? "";
  if (
    !/[A-Za-z0-9]{2}/.test(value) ||
    isStandIn(Buffer.from(value, "latin1").toString("utf8")) ||
    /^\d+:\d+$|^[-.$]|^\d{1,3}$|^[a-z]{1,5}$/.test(value)
  )
    return;
  if (isCookie && !/\d/.test(value)) return;
  const start = offset + (match.index ?? 0) + match[0].lastIndexOf(value);
  found.push({ start, end: start + value.length });
}

/** Returns the text up to the end of the command, including lines continued by a backslash. */
function commandIn(text: string): string {
  const end = /(?<!\\)\r?\n|[^\\]\\n(?!\w)| [|;] | && |;$/.exec(text);
  const line = end ? text.slice(0, end.index + 1) : text;
  return line.replace(/\\\r?\n/g, (all) => " ".repeat(all.length));
}
