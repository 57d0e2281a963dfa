/**
 * Properties are tried with the same cases each time, so that a change is judged by what it changed. A long run tries
 * others: BACKTRAIL_SEED=random, or a number that such a run printed.
 */
import fc from "fast-check";

const FIXED = 20_240_229;
const wanted = process.env["BACKTRAIL_SEED"];

if (wanted !== "random") fc.configureGlobal({ seed: wanted === undefined ? FIXED : Number(wanted) });
