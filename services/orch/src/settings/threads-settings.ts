import { settingsOf, settingTypes } from '@orch/platform'

const { int } = settingTypes
const setting = settingsOf('Serving')

/** How many threads of a process take requests. */
export const threadsSettings = {
  threads: setting({
    flag: '--threads',
    type: int({ min: 1, max: 16 }),
    default: '1',
    doc: 'Experimental. How many threads take requests, each of them some of the connections (Linux). The first one also holds the objects. See docs/how-to/threads.md.',
  }),
}
