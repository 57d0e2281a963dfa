import { driver } from "./claude-code.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
