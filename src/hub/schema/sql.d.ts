/** SQL files are imported as text, so that they are part of the executable. */
declare module "*.sql" {
  const text: string;
  export default text;
}
