import { driver } from "./gemini.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
