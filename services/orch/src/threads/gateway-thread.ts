/** The entry of a further thread: a gateway over the first thread's services. */
import { parentPort, workerData } from 'node:worker_threads'
import { countsOnce } from '@orch/admission'
import { admissionContract, nodesContract, storageContract, watchContract } from '@orch/core/contracts'
import { shareOf } from '@orch/gateway'
import {
  createLifecycle,
  createLog,
  createMetrics,
  endOnFailure,
  parseSigningKey,
  readSettings,
  systemChance,
  systemClock,
} from '@orch/platform'
import { conversionsAtOnceMax } from '@orch/platform/conversion'
import { dialThread, serveContract, serveThread } from '@orch/platform/thread-link'
import { openAdmission } from '../admission/open.ts'
import type { AdmissionSettings } from '../admission/settings.ts'
import { hasOwnFrontProxy } from '../certificates/gateway.ts'
import { isControllerManager } from '../controllers/settings.ts'
import { listenForClients, openGateway } from '../gateway/open.ts'
import { readServer, upSettings } from '../settings/up.ts'
import { catalogueOf, faultsOf } from '../surroundings.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { knownListsContract, withKnownLists, withKnownObjects } from './cached-reads.ts'
import {
  firstThreadContract,
  type GatewayThreadService,
  gatewayThreadContract,
  ObjectMarks,
  portSockets,
  SharedCount,
  type ThreadStart,
} from './contracts.ts'
import { authenticationOf, authorizationOf, certificateNames, certificateOf, portCertificatesOf } from './first-thread.ts'

const start = workerData as ThreadStart
const { values: settings } = readSettings(upSettings, { flags: start.flags, env: {}, file: undefined })
const groups = readServer(settings)
const log = createLog({ level: settings.logLevel, format: settings.logFormat }).child({ thread: start.index })
const lifecycle = createLifecycle({ log })
const telemetry = await openTelemetry({ service: 'server', env: process.env, clock: systemClock, log })
const { tracer } = telemetry
const world = { clock: systemClock, chance: systemChance, log }
const surroundings = { ...world, catalogue: catalogueOf(groups.api), lifecycle, tracer, faults: faultsOf(groups, world) }
const link = dialThread(start.first)
const first = link.service(firstThreadContract)
const withLists = withKnownLists(link.service(storageContract), link.service(knownListsContract))
const storage = start.marks === undefined ? withLists : withKnownObjects(withLists, new ObjectMarks(start.marks))
const limitShare = { index: start.index, of: start.threads }
const metrics = createMetrics({
  process: false,
  releases: groups.serving.metricReleases,
  printedElsewhere: async () => Buffer.from((await first.metrics({})).text),
})

const gateway = await openGateway(
  {
    ...groups,
    flags: start.shownFlags,
    hasUsualConsole: true,
    storage,
    watch: link.service(watchContract),
    admission: await reachAdmission(groups.admission),
    hasOwnAdmission: true,
    nodes: link.service(nodesContract),
    authenticationElsewhere: authenticationOf(first, new SharedCount(start.forgottenTokens)),
    authorizationElsewhere: authorizationOf(first),
    auditElsewhere: async (event) => (await first.audit(event)).problem,
    proxyPair:
      groups.aggregation.proxyFiles === undefined && !hasOwnFrontProxy(groups)
        ? undefined
        : await certificateOf(first, certificateNames.proxy, surroundings),
    ownSigningKey: parseSigningKey(start.signingKey),
    metrics,
    limitShare,
    runsControllers: isControllerManager(groups.controllers),
    runsScheduler: groups.controllers.includes('scheduler'),
    checks: start.checks.map((check) => ({ ...check, check: async () => (await first.problem({ check: check.name })).text })),
  },
  surroundings,
)
await gateway.loadDefinitions()
await gateway.loadAuthorization()
const certificates = await portCertificatesOf(first, groups.serving, surroundings)

const service: GatewayThreadService = {
  metrics: async () => ({ rows: await metrics.rows() }),
  close: async (how) => {
    await gateway.close(how)
    await lifecycle.stop()
    await telemetry.close()
    exitSoon(0)
    return {}
  },
}
serveThread(start.own, [serveContract(gatewayThreadContract, service)])
await listenForClients(gateway, {
  serving: { ...groups.serving, securePort: start.port },
  sharing: 'joins',
  portSockets: portSockets.further,
  certificates,
})
endOnFailure({ source: process, log, exit: () => exitSoon(1) })
parentPort?.postMessage('listening')

/** This thread answers unless the call counts for the whole process. */
async function reachAdmission(admission: AdmissionSettings) {
  if (countsOnce(admission.plugins, surroundings.catalogue.level)) return link.service(admissionContract)
  const settings = { ...admission.settings, conversionCallsMax: shareOf(conversionsAtOnceMax, limitShare) }
  return openAdmission({ storage, nodes: link.service(nodesContract), admission: { ...admission, settings }, metrics }, surroundings)
}

/** Not at once: Node.js ends the process if a thread ends while it reads an HTTP/2 request. */
function exitSoon(code: number): void {
  setImmediate(() => process.exit(code))
}
