/** The platforms that a package is made for. */
export interface Platform {
  /** As node names it: `<process.platform>-<process.arch>`. */
  id: string;
  os: string;
  cpu: string;
  libc?: string;
  /** The compiler's name of it. */
  target: string;
  /** The package that carries Bun's own executable for it. */
  runtime: string;
  executable: string;
}

export const PLATFORMS: Platform[] = [
  platform("linux", "x64", "bun-linux-x64", "@oven/bun-linux-x64"),
  platform("linux", "arm64", "bun-linux-arm64", "@oven/bun-linux-aarch64"),
  platform("darwin", "x64", "bun-darwin-x64", "@oven/bun-darwin-x64"),
  platform("darwin", "arm64", "bun-darwin-arm64", "@oven/bun-darwin-aarch64"),
  platform("win32", "x64", "bun-windows-x64", "@oven/bun-windows-x64"),
];

export function packageOf(platform: Platform): string {
  return `@backtrail/${platform.id}`;
}

export function hostPlatform(): Platform | undefined {
  return PLATFORMS.find((platform) => platform.id === `${process.platform}-${process.arch}`);
}

function platform(os: string, cpu: string, target: string, runtime: string): Platform {
  const executable = os === "win32" ? "backtrail.exe" : "backtrail";
  return { id: `${os}-${cpu}`, os, cpu, ...(os === "linux" ? { libc: "glibc" } : {}), target, runtime, executable };
}
