import { killAtPoints } from "./kills-at-points.ts";
import { restores } from "./operations/restores.ts";
import { OPERATIONS } from "./operations.ts";

killAtPoints(OPERATIONS.filter((operation) => !restores.includes(operation)));
