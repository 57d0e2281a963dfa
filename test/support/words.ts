/** Tests read the sentences that a user reads. */
import { installWords } from "../../src/cli/render/words/index.ts";

installWords();
