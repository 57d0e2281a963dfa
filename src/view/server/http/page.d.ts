/** The build writes this file: see scripts/page.ts. */
declare module "*/page.generated.json" {
  const files: Record<string, string>;
  export default files;
}
