import { driver } from "./kilo.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
