import { settingsOf, settingTypes } from '@orch/platform'

const setting = settingsOf('Nodes')

/** Maximum of the flag: the number of nodes with an address. */
const nodesMax = 1000

/** The settings of simulated nodes. */
export const nodesSettings = {
  simulatedNodes: setting(
    { flag: '--simulated-nodes', type: settingTypes.int({ min: 0, max: nodesMax }), default: '0' },
    'Nodes to simulate, named node-1, node-2 and so on: they run Pods as kubelets do, without containers. Switches the controllers of workloads and nodes on; -NAME in --controllers still removes one.',
  ),
}
