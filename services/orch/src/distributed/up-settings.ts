import { settingsOf, settingTypes, type Values } from '@orch/platform'

const { bool, int } = settingTypes
const setting = settingsOf('Distributed')

function replicaSetting(
  flag: `--${string}`,
  of: string,
  { count, min = 1, shownCount }: { readonly count: string; readonly min?: number; readonly shownCount?: string },
) {
  return setting({
    flag,
    type: int({ min, max: 16 }),
    default: count,
    ...(shownCount !== undefined && { defaultDoc: shownCount }),
    doc: `How many ${of} --distributed starts.`,
  })
}

/** How `orch up` starts the services apart. */
export const upDistributedSettings = {
  distributed: setting({
    flag: '--distributed',
    type: bool,
    default: 'false',
    doc: 'Starts each service as a separate process, with an etcd and a nats-server on this machine, to try out a distributed deployment. Further gateways use the ports after --secure-port.',
  }),
  gateways: replicaSetting('--gateways', 'gateways', { count: '2' }),
  storages: replicaSetting('--storages', 'storages', { count: '2' }),
  watches: replicaSetting('--watches', 'watches (0: each storage hosts its own, and there is no NATS)', {
    count: '2',
    min: 0,
    shownCount: '2; 0 with --storages=1',
  }),
  admissions: replicaSetting('--admissions', 'admissions (0: each gateway hosts its own)', {
    count: '1',
    min: 0,
    shownCount: '1; 0 with --gateways=1',
  }),
  controllerReplicas: replicaSetting('--controller-replicas', 'processes for controllers, of which one runs them,', { count: '1' }),
}

type UpDistributed = Values<typeof upDistributedSettings>

/**
 * How many of each are started. One storage hosts watch and one gateway hosts admission, unless something else was given: a process of
 * their own would have the same bytes pass one socket more, and nothing to scale apart.
 */
export function sharedWhereSingle<S extends UpDistributed>(settings: S, given: { has(flag: string): boolean }): S {
  const { gateways, storages } = settings
  const isHosted = (hosts: number, flag: string) => hosts === 1 && !given.has(flag)
  return {
    ...settings,
    ...(isHosted(storages, upDistributedSettings.watches.flag) && { watches: 0 }),
    ...(isHosted(gateways, upDistributedSettings.admissions.flag) && { admissions: 0 }),
  }
}
