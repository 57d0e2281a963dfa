/** The types that runtime.ts and runtime.node.ts share: hashes and child processes. */
export type HashName = "sha1" | "sha256";

export interface Hasher {
  update(data: string | Uint8Array): Hasher;
  digest(encoding: "hex"): string;
  digest(): Uint8Array;
}

/** A number is an open file descriptor. */
export type Stdio = "ignore" | "inherit" | "pipe" | number;

export interface SpawnOptions<In extends Stdio | Uint8Array, Out extends Stdio, Err extends Stdio> {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Bytes are written to the program's standard input, which is then closed. */
  stdin: In;
  stdout: Out;
  stderr: Err;
  /** Makes the program the leader of a new process group. */
  detached?: boolean;
  /** Milliseconds until the program is killed with `killSignal`. */
  timeout?: number;
  killSignal?: NodeJS.Signals;
}

export interface Child<In, Out, Err> {
  readonly pid: number;
  /** The exit status; 128 plus the signal's number if a signal ended the program. */
  readonly exited: Promise<number>;
  readonly stdin: In extends "pipe" ? ChildInput : undefined;
  readonly stdout: Output<Out>;
  readonly stderr: Output<Err>;
  kill(signal: NodeJS.Signals): void;
  /** Lets this process exit before the child does. */
  unref(): void;
}

type Output<Out> = Out extends "pipe" ? ReadableStream<Uint8Array<ArrayBuffer>> : undefined;

interface ChildInput {
  write(data: string | Uint8Array): unknown;
  flush(): unknown;
  end(): unknown;
}

export interface ReadBytes {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}
