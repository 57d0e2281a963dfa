import { expect, test } from "bun:test";
import { parseTime } from "./parse.ts";

const NOW = new Date("2026-11-17T12:00:00Z");

test.each([
  ["2d", "2026-11-15T12:00:00Z"],
  ["90 min", "2026-11-17T10:30:00Z"],
  ["2 hours ago", "2026-11-17T10:00:00Z"],
  ["1 hour ago", "2026-11-17T11:00:00Z"],
  ["an hour ago", "2026-11-17T11:00:00Z"],
  ["3  Days ago", "2026-11-14T12:00:00Z"],
  ["10 min ago", "2026-11-17T11:50:00Z"],
  ["last week", "2026-11-10T12:00:00Z"],
  ["now", "2026-11-17T12:00:00Z"],
  ["2026-11-16T08:30:00Z", "2026-11-16T08:30:00Z"],
])("%p", (text, time) => {
  expect(parseTime(text, NOW, "last")).toEqual(new Date(time));
});

test("a day is its first or its last moment, where the user is", () => {
  expect(parseTime("2026-11-16", NOW, "first")).toEqual(new Date(2026, 10, 16));
  expect(parseTime("2026-11-16", NOW, "last")).toEqual(new Date(new Date(2026, 10, 17).getTime() - 1));
  expect(parseTime("yesterday", new Date(2026, 10, 1, 9), "first")).toEqual(new Date(2026, 9, 31));
  // November 17, 2026 is a Tuesday.
  expect(parseTime("monday", new Date(2026, 10, 17, 9), "first")).toEqual(new Date(2026, 10, 16));
  expect(parseTime("tue", new Date(2026, 10, 17, 9), "first")).toEqual(new Date(2026, 10, 10));
});

test("months and years keep the day where there is one", () => {
  expect(parseTime("1 month ago", new Date(2026, 2, 31, 9), "first")).toEqual(new Date(2026, 1, 28, 9));
  expect(parseTime("2 years ago", new Date(2026, 2, 31, 9), "first")).toEqual(new Date(2024, 2, 31, 9));
});

test.each([
  "",
  "soon",
  "2026-02-30",
  "2026-13-01",
  "5y",
  "-2d",
  "2026-11-16T99:99",
  "2 hours",
  "an hour",
  "3 moons ago",
])("%p is refused", (text) => {
  expect(() => parseTime(text, NOW, "first")).toThrow("is not a time");
});
