import { setting, settingTypes } from '@orch/platform'

const { bool, int } = settingTypes

function replicaSetting(flag: `--${string}`, env: string, of: string, count: string) {
  return setting({
    flag,
    env,
    type: int({ min: 1, max: 16 }),
    default: count,
    group: 'Distributed',
    doc: `How many ${of} --distributed starts.`,
  })
}

/** How `orch up` starts the services apart. */
export const upDistributedSettings = {
  distributed: setting({
    flag: '--distributed',
    env: 'ORCH_DISTRIBUTED',
    type: bool,
    default: 'false',
    group: 'Distributed',
    doc: 'Starts each service as a separate process, with an etcd and a nats-server on this machine, to try out a distributed deployment. Further gateways use the ports after --secure-port.',
  }),
  gateways: replicaSetting('--gateways', 'ORCH_GATEWAYS', 'gateways', '2'),
  storages: replicaSetting('--storages', 'ORCH_STORAGES', 'storages', '2'),
  watches: replicaSetting('--watches', 'ORCH_WATCHES', 'watches', '2'),
  admissions: replicaSetting('--admissions', 'ORCH_ADMISSIONS', 'admissions', '1'),
  controllerReplicas: replicaSetting(
    '--controller-replicas',
    'ORCH_CONTROLLER_REPLICAS',
    'processes for controllers, of which one runs them,',
    '1',
  ),
}
