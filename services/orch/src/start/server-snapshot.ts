import { SettingsError } from '@orch/platform'
import type { StateSnapshot } from '@orch/storage'
import type { ServerBase } from '../server.ts'
import type { Moment, Origin } from './snapshot-file.ts'
import type { StartOptions } from './start-settings.ts'

/** An immutable snapshot of a server, with its history, users and keys. */
export interface Snapshot extends StateSnapshot {
  /** Writes the snapshot with its keys to a file that only the owner can read. `loadSnapshot` reads it. */
  save(path: string): Promise<void>
}

/** Reads a file of `save`, for `start({ from })`. Rejects if the file is damaged or is not a snapshot. */
export async function loadSnapshot(path: string): Promise<Snapshot> {
  const { readMoment } = await import('./snapshot-file.ts')
  return new ServerSnapshot(await readMoment(path))
}

export class ServerSnapshot implements Snapshot, Moment {
  readonly base: ServerBase
  readonly origin: Origin

  constructor({ base, origin }: Moment) {
    this.base = base
    this.origin = origin
  }

  async save(path: string): Promise<void> {
    const { writeMoment } = await import('./snapshot-file.ts')
    await writeMoment(this, path)
  }

  get revision(): number {
    return this.base.snapshot.revision
  }
}

/** The server's class behind a caller's snapshot. */
export function readSnapshot(snapshot: StateSnapshot): ServerSnapshot {
  if (!(snapshot instanceof ServerSnapshot)) throw new TypeError('a snapshot is made by server.snapshot()')
  return snapshot
}

/**
 * Options that affect the initial objects or the stored form of objects. If a fork changes them, it starts like the base would after a restart with
 * other settings.
 */
const shaping = [
  'version',
  'featureGates',
  'nodes',
  'runtimeConfig',
  'serviceClusterIpRange',
  'serviceNodePortRange',
  'flags',
] as const satisfies readonly (keyof StartOptions)[]

/** Joins the options of a fork with those of its base. Throws for options that no fork can change. */
export function readForkOptions({ origin }: ServerSnapshot, { from: _, ...given }: StartOptions) {
  const base = origin.options
  if (given.profile !== undefined && given.profile !== (base.profile ?? 'orch'))
    throw new SettingsError(
      `profile: ${given.profile}: the stored objects have the names of profile ${base.profile ?? 'orch'}; start a server without from`,
    )
  if (given.clock !== undefined && given.clock.isVirtual !== (base.clock?.isVirtual ?? false))
    throw new SettingsError('clock: a fork has a virtual clock if its base has one: certificates and times are those of the base')
  const isSame = shaping.every((name) => given[name] === undefined || JSON.stringify(given[name]) === JSON.stringify(base[name]))
  // The store contains the definitions and webhooks of the base.
  const { crds: _crds, webhooks: _webhooks, ...others } = base
  return {
    /** The options of the base, replaced by the given options. */
    options: { ...others, ...given },
    /** False if a given option changes the initial objects; then the server reads the state as after a restart. */
    isSame,
  }
}
