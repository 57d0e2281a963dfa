/** Every recorded payload is told what it means by the beginning of its name, one test a payload. */
import { expect, test } from "bun:test";
import type { Event, EventType } from "../../src/model/event.ts";
import type { Recorded } from "./recorded.ts";

/** Whatever is not named is acknowledged and ignored. `holds`: what is true of each event besides. */
export function haveMeanings(
  { payloadNames, payload, eventOf }: Recorded<unknown, never>,
  meanings: readonly [beginning: string, type: EventType][],
  holds: (event: Event, raw: Record<string, unknown>) => void,
): void {
  for (const name of payloadNames) {
    const type = meanings.find(([beginning]) => name.startsWith(beginning))?.[1] ?? null;
    test(`${name} is ${type ?? "ignored"}`, () => {
      const event = eventOf(payload(name));
      expect(event?.type ?? null).toBe(type);
      if (event) holds(event, payload(name));
    });
  }
}

/** For agents whose payloads say which hook they are. */
export function everyHookIsRecorded({ agent, payloadNames, payload }: Recorded<unknown, never>): void {
  test("every event that is hooked has a recorded payload", () => {
    const recorded = new Set(payloadNames.map((name) => payload(name)["hook_event_name"]));
    for (const native of Object.keys(agent.profile.hooks?.install ?? {})) expect(recorded).toContain(native);
  });
}
