import { createCatalogue } from '@orch/core/catalogue'
import type { StorageService } from '@orch/core/contracts'
import { createMetrics, silentLog, systemChance, systemClock } from '@orch/platform'
import { createGateway, createWatchHub, type GatewayOptions, type VersionInfo } from '../../services/gateway/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'

/** The version that the gateway reports. */
export const ownVersion: VersionInfo = {
  major: '1',
  minor: '25',
  gitVersion: 'v1.25.0',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '',
  goVersion: '',
  compiler: '',
  platform: '',
}

/** The methods of a storage, of which a test replaces some. */
export function methodsOf(storage: StorageService): StorageService {
  return {
    get: (request, context) => storage.get(request, context),
    list: (request, context) => storage.list(request, context),
    commit: (request, context) => storage.commit(request, context),
    changes: (request, context) => storage.changes(request, context),
    getAt: (request, context) => storage.getAt(request, context),
    history: (request, context) => storage.history(request, context),
    revisionAt: (request, context) => storage.revisionAt(request, context),
    status: (request, context) => storage.status(request, context),
  }
}

interface PlainOptions extends Partial<GatewayOptions> {
  readonly storage: StorageService
  /** The storage that watch follows; by default that of the gateway. */
  readonly watched?: StorageService
  readonly random?: () => number
}

/** A gateway over a storage in this process, with its own watch. */
export function openPlainGateway({ watched, random = Math.random, ...options }: PlainOptions) {
  const { clock = systemClock, storage } = options
  const watch = createWatch({ storage: watched ?? storage, clock, log: silentLog, random, convertOf: () => unconverted })
  const watchHub = createWatchHub({ watch, clock, log: silentLog, random })
  const gateway = createGateway({
    catalogue: createCatalogue('orch'),
    watchHub,
    clock,
    chance: systemChance,
    log: silentLog,
    metrics: createMetrics({ process: false }),
    version: ownVersion,
    ...options,
  })
  return {
    gateway,
    async close() {
      await gateway.close()
      watchHub.close()
      watch.close()
    },
  }
}
