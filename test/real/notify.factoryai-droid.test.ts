/** By JSON-RPC, as editors drive Droid: plain `droid exec` calls no hook for a prompt. */
import { converse, driver } from "./factoryai-droid.ts";
import { notifiesTheAgent } from "./notify.ts";

await notifiesTheAgent({
  ...driver,
  async turn(rig, text, session) {
    const sessionId = await converse(rig, ...(session ? [`load:${session}`] : []), `say:${text}`);
    return { code: 0, result: "", sessionId, stderr: "" };
  },
});
