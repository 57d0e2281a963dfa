import { driver } from "./pi.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
