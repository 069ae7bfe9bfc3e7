import { type FilterPlugin, type Refusal, skip } from '../plugin.ts'

const refused: Refusal = { plugin: 'NodeName', isResolvable: false, reasons: ["node(s) didn't match the requested node name"] }

/** Refuses nodes other than the one that the Pod names (SCHED-27). */
export const nodeName: FilterPlugin = {
  name: 'NodeName',
  start({ pod }) {
    const { nodeName: wanted = '' } = pod.spec
    if (wanted === '') return skip
    return { kind: 'run', run: { filter: ({ name }) => (name === wanted ? undefined : refused) } }
  },
}
