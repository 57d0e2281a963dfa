/** Reads and validates the parameters of a query. */
import { UserError } from "../../../base/errors.ts";

const MAX_VALUE = 4_096;

export class Query {
  readonly #parameters: URLSearchParams;

  constructor(parameters: URLSearchParams) {
    this.#parameters = parameters;
  }

  text(name: string): string | null {
    const value = this.#parameters.get(name);
    if (value !== null && (value.length > MAX_VALUE || value.includes("\0")))
      throw new UserError("usage", `The parameter ${name} is too long or not text.`);
    return value;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === null || value === "") throw new UserError("usage", `The parameter ${name} is missing.`);
    return value;
  }

  flag(name: string): boolean {
    return this.text(name) === "1";
  }

  /** A whole number from 0 to `most`. */
  number(name: string, usual: number, most: number): number {
    const value = this.text(name);
    if (value === null) return usual;
    if (!/^\d{1,15}$/.test(value)) throw new UserError("usage", `The parameter ${name} is not a number.`);
    return Math.min(Number(value), most);
  }

  list(name: string): string[] {
    return (this.text(name) ?? "").split(",").filter((part) => part !== "");
  }

  time(name: string): Date | null {
    const value = this.text(name);
    if (value === null) return null;
    const time = new Date(value);
    if (Number.isNaN(time.getTime())) throw new UserError("usage", `The parameter ${name} is not a time.`);
    return time;
  }
}
