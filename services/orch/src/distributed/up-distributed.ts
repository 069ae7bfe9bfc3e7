import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { printConfiguration } from '@orch/client'
import type { ServiceRole } from '@orch/core/contracts'
import { type Names, namesOf } from '@orch/core/names'
import {
  certificateFolder,
  createLog,
  eachSetting,
  keepServiceCertificates,
  type Log,
  makePrivateFolder,
  messageOf,
  type Settings,
  stopOnSignal,
  systemChance,
  systemClock,
  writePrivateFile,
} from '@orch/platform'
import { freePorts } from '@orch/platform/backends'
import { pluginSettings } from '../admission/settings.ts'
import { keepSigningKey, signingKeyName } from '../authentication/open.ts'
import {
  administratorConfiguration,
  configurationOfControllers,
  readServerCertificates,
  writeClientFiles,
} from '../certificates/clients.ts'
import { hasOwnFrontProxy, openFrontProxy, publishedFrontProxy } from '../certificates/gateway.ts'
import { AddressTakenError, printReadyLine, StartError, type Terminal } from '../process/terminal.ts'
import { withHeapFlags } from '../process/v8.ts'
import { printHost } from '../serving/loopback.ts'
import type { UpOptions } from '../settings/up.ts'
import { printStartMessage, toStartFields } from '../start-message.ts'
import { lockDataFolder, makeDataFolder } from '../storage/open.ts'
import { backendsCommandSettings, locate } from './backends.ts'
import { type Children, createChildren } from './children.ts'
import {
  admissionCommandSettings,
  controllersCommandSettings,
  gatewayCommandSettings,
  nodesCommandSettings,
  storageCommandSettings,
  watchCommandSettings,
} from './settings.ts'

/** `orch up --distributed`: every service as a separate process, with an etcd and a nats-server of this machine. */
export async function upDistributed(terminal: Terminal, options: UpOptions): Promise<undefined> {
  const { settings, dataDir } = options
  const log = createLog({ level: settings.logLevel, format: settings.logFormat })
  makeDataFolder(dataDir, log)
  const lock = lockDataFolder(dataDir)
  const children = createChildren({
    node: { path: process.execPath, arguments: withHeapFlags(process.execArgv, process.env), entry: process.argv[1] ?? '' },
    // Settings are passed to children as flags, since variables would also affect other settings of the same name.
    env: Object.fromEntries(Object.entries(terminal.env).filter(([name]) => !name.startsWith('ORCH_'))),
    workingFolder: terminal.workingFolder,
    logFormat: settings.logFormat,
    clock: systemClock,
    random: systemChance.fraction,
    log,
    write: (text) => terminal.error(text),
  })
  const stop = async () => {
    for (const name of stopOrder) await children.stop(name)
  }
  // Processes of a failed start have no clients to wait for, and `--shutdown-delay-duration` may be long. Only the backends end etcd and NATS.
  const stopAtOnce = async () => {
    for (const name of stopOrder) await children.stop(name, name === 'backends' ? 'SIGTERM' : 'SIGKILL')
  }
  const ending = new AbortController()
  stopOnSignal({
    source: process,
    log,
    async stop() {
      log.info({}, 'stopping')
      ending.abort()
      await stop()
    },
  })
  try {
    const { plan, urls } = await withOtherPorts({
      attempt: async () => {
        const plan = await makePlan(options, log)
        // Programs are located first, because a download takes longer than the timeout of the start.
        await locate('etcd', terminal, log)
        if (plan.addresses.watch.length > 0) await locate('nats-server', terminal, log)
        return { plan, urls: await startAll(plan, children, log) }
      },
      isOurs: (address) => options.serving.securePort === 0 || !isGateway(address, options),
      stop: stopAtOnce,
      signal: ending.signal,
      log,
    })
    lock.announce(urls[0] ?? '')
    terminal.out(printReady(urls, plan, options, terminal))
    await terminal.notify?.({ kind: 'ready', text: `orch is ready at ${urls.join(', ')}\n` })
  } catch (error) {
    await stopAtOnce()
    throw error instanceof StartError ? error : new StartError(messageOf(error), { cause: error })
  }
}

/** True if the caller has given this address of a gateway. */
function isGateway(address: string, { settings, serving }: UpOptions): boolean {
  const port = Number(address.slice(address.lastIndexOf(':') + 1))
  return port >= serving.securePort && port < serving.securePort + settings.gateways
}

/** Callers end before the services that they call. */
const stopOrder = ['nodes', 'controllers', 'gateway', 'admission', 'watch', 'storage', 'backends']

/** Ports, certificates and flags of all processes. */
type Plan = Awaited<ReturnType<typeof makePlan>>

const loopback = '127.0.0.1'

/** The services with a port for probes, in the order of their table. */
const innerServices = ['storage', 'watch', 'admission', 'nodes', 'controllers'] as const

/** Selects ports and creates certificates, so that all can be started at once. */
async function makePlan(options: UpOptions, log: Log) {
  const { settings, dataDir, serving, texts } = options
  const { profile, gateways, storages, watches, admissions, controllerReplicas, simulatedNodes } = settings
  const names = namesOf(profile)
  const certificates = join(dataDir, 'services')
  makePrivateFolder(certificates)
  await keepServiceCertificates({
    files: certificateFolder(certificates),
    names,
    hostNames: ['localhost', loopback],
    clock: systemClock,
  })
  const nodes = simulatedNodes > 0 ? 1 : 0
  const inner = storages + watches + admissions + nodes
  const [etcd = 0, nats = 0, ...ports] = await freePorts(2 + gateways + 2 * inner + controllerReplicas)
  const take = (count: number) => ports.splice(0, count).map((port) => `${loopback}:${port}`)
  const gatewayPorts = serving.securePort === 0 ? ports.splice(0, gateways) : numbered(gateways).map((index) => serving.securePort + index)
  const addresses = {
    gateway: gatewayPorts.map((port) => `${serving.bindAddress.includes(':') ? `[${serving.bindAddress}]` : serving.bindAddress}:${port}`),
    storage: take(storages),
    watch: take(watches),
    admission: take(admissions),
    nodes: take(nodes),
    // No service calls controllers.
    controllers: Array.from({ length: controllerReplicas }, () => ''),
  }
  const probed = innerServices.flatMap((service) => addresses[service].map((_, index) => `${service}-${index}`))
  const probes = Object.fromEntries(probed.map((name) => [name, take(1)[0] ?? '']))
  const url = `https://${printHost(serving.bindAddress)}:${gatewayPorts[0]}${serving.pathPrefix}`
  const { certificates: made, signingKeyFile, flags: clientFlags } = await makeClientFlags(names, options)
  return {
    names,
    /** Folder of the certificates between services. */
    certificates,
    /** The administrator's client configuration for the first gateway. */
    configuration: administratorConfiguration({ url, serving, certificates: made, log }),
    hasGivenCertificate: serving.servingPair !== undefined,
    clientFlags,
    /** The file with which gateways and controllers sign tokens of service accounts. */
    signingKeyFile,
    dataDir,
    backendPorts: { etcd, nats },
    addresses,
    /** The probe ports of processes. */
    probes,
    /** The caller's flags that these settings know. */
    given: (known: Settings) => givenFlags(known, texts),
    auditLogPath: settings.auditLog.path,
    authorizationMode: settings.authorizationMode,
    /** With the words that simulated nodes add. */
    controllers: simulatedNodes > 0 ? `--controllers=${['workloads', 'nodes', ...settings.controllers].join(',')}` : undefined,
  }
}

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Settings that every process receives separately. */
const ownFlags = new Set(['--config', '--data-dir', '--secure-port', '--client-ca-file', '--service-account-signing-key-file'])

function givenFlags(known: Settings, texts: ReadonlyMap<string, string>): string[] {
  const flags = eachSetting(known).map(({ flag }) => flag)
  return flags.filter((flag) => texts.has(flag) && !ownFlags.has(flag)).map((flag) => `${flag}=${texts.get(flag)}`)
}

/** Serving certificates of the gateways, their client CA, and the service account key. */
async function makeClientFlags(names: Names, options: UpOptions) {
  const { dataDir, serving, objects, authentication, texts } = options
  const files = certificateFolder(dataDir)
  const certificates = await readServerCertificates({
    files,
    names,
    serving,
    objects,
    hostName: hostname(),
    adminKey: 'RSA',
    clock: systemClock,
  })
  const authorities = join(dataDir, 'client-ca.crt')
  writePrivateFile(
    authorities,
    `${certificates.authority}\n${authentication.clientCaFile === '' ? '' : readFileSync(authentication.clientCaFile, 'utf8')}`,
  )
  const own = [`--tls-cert-file=${join(dataDir, 'serving.crt')}`, `--tls-private-key-file=${join(dataDir, 'serving.key')}`]
  const givenKey = texts.get('--service-account-signing-key-file') ?? ''
  if (givenKey === '') keepSigningKey(certificateFolder(dataDir))
  const signingKeyFile = givenKey === '' ? join(dataDir, signingKeyName) : givenKey
  const flags = [
    `--client-ca-file=${authorities}`,
    `--service-account-signing-key-file=${signingKeyFile}`,
    ...(texts.has('--tls-cert-file') ? [] : own),
    ...(await frontProxyFlags(options)),
  ]
  return { certificates, signingKeyFile, flags }
}

/** The gateways' client certificate for aggregated servers, if the settings have none: the same for all. */
async function frontProxyFlags(options: UpOptions): Promise<string[]> {
  if (!hasOwnFrontProxy(options)) return []
  const { dataDir } = options
  const proxy = await openFrontProxy({ files: certificateFolder(dataDir), clock: systemClock })
  await proxy.client()
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes, allowedNames } = publishedFrontProxy(
    proxy.authority,
    options.api.featureGates.isOn('RemoteRequestHeaderUID'),
  )
  return [
    `--proxy-client-cert-file=${join(dataDir, 'front-proxy-client.crt')}`,
    `--proxy-client-key-file=${join(dataDir, 'front-proxy-client.key')}`,
    `--requestheader-client-ca-file=${join(dataDir, 'front-proxy-ca.crt')}`,
    `--requestheader-username-headers=${usernameHeaders}`,
    ...uidHeaders.map((header) => `--requestheader-uid-headers=${header}`),
    `--requestheader-group-headers=${groupHeaders}`,
    `--requestheader-extra-headers-prefix=${extraHeaderPrefixes}`,
    `--requestheader-allowed-names=${allowedNames}`,
  ]
}

/** Starts everything; returns the addresses of the gateways. */
async function startAll(plan: Plan, children: Children, log: Log): Promise<string[]> {
  const { addresses, backendPorts, certificates, dataDir, given, probes } = plan
  const hostsWatch = addresses.watch.length === 0
  log.info({}, hostsWatch ? 'starting etcd' : 'starting etcd and NATS')
  const backends = await children.start({
    name: 'backends',
    arguments: [
      'backends',
      `--data-dir=${dataDir}`,
      `--certificates=${certificates}`,
      `--etcd-port=${backendPorts.etcd}`,
      `--nats-port=${backendPorts.nats}`,
      `--nats=${!hostsWatch}`,
      ...given(backendsCommandSettings),
    ],
  })
  const trust = (role: ServiceRole) => [
    `--service-certificate=${join(certificates, `${role}.crt`)}`,
    `--service-key=${join(certificates, `${role}.key`)}`,
    `--service-ca=${join(certificates, 'ca.crt')}`,
  ]
  const feed = hostsWatch
    ? ['--watch=in-process']
    : [`--nats-servers=${backends['nats']}`, ...backendFlags('nats', certificates, 'storage')]
  const natsForWatch = [`--nats-servers=${backends['nats']}`, ...backendFlags('nats', certificates, 'watch')]
  const etcd = [`--etcd-servers=${backends['etcd']}`, ...backendFlags('etcd', certificates, 'storage')]
  const storage = `--storage-address=${addresses.storage.join(',')}`
  const inner = (service: (typeof innerServices)[number], flags: readonly string[]) =>
    addresses[service].map((address, index) => {
      const name = `${service}-${index}`
      const own = [...(address === '' ? [] : [`--listen=${address}`]), `--probe-address=${probes[name]}`]
      return children.start({ name, arguments: [service, ...own, ...trust(service), ...flags] })
    })
  const nodesAddress = addresses.nodes.length === 0 ? [] : [`--nodes-address=${addresses.nodes.join(',')}`]
  // The services may start in any order, but services that wait for storage would take CPU time from the start of storage.
  log.info({}, 'starting storage')
  await Promise.all(inner('storage', [...etcd, ...feed, ...given(storageCommandSettings)]))
  log.info({}, 'starting the other services')
  const started = [
    ...inner('watch', [storage, ...natsForWatch, ...given(watchCommandSettings)]),
    ...inner('admission', [storage, ...nodesAddress, ...given(admissionCommandSettings)]),
  ]
  const hostsAdmission = addresses.admission.length === 0
  const admission = hostsAdmission ? '--admission=in-process' : `--admission-address=${addresses.admission.join(',')}`
  const others = [...nodesAddress, storage, `--watch-address=${(hostsWatch ? addresses.storage : addresses.watch).join(',')}`, admission]
  const givenToGateways = gatewayFlags(given(gatewayCommandSettings), { hostsAdmission })
  const { names, configuration, hasGivenCertificate } = plan
  // A client may begin when the first gateway is ready.
  writeClientFiles({ dataDir, names, configuration, hasGivenCertificate })
  const gateways = Promise.all(
    addresses.gateway.map(async (address, index) => {
      const port = `--secure-port=${address.slice(address.lastIndexOf(':') + 1)}`
      const audit = [`--audit-log-path=${addresses.gateway.length > 1 ? filePerGateway(plan.auditLogPath, index) : plan.auditLogPath}`]
      const flags = [port, ...others, ...trust('gateway'), ...plan.clientFlags, ...givenToGateways, ...audit]
      return (await children.start({ name: `gateway-${index}`, arguments: ['gateway', ...flags] }))['address'] ?? ''
    }),
  )
  const [urls] = await Promise.all([gateways, ...started])
  const controllersConf = join(dataDir, 'controllers.conf')
  const own = await configurationOfControllers({ ...plan, files: certificateFolder(dataDir), clock: systemClock })
  writePrivateFile(controllersConf, printConfiguration({ cluster: names.serverServiceName, user: 'controllers', configuration: own }))
  const servers = `--servers=${urls.join(',')}`
  const givenToControllers = given(controllersCommandSettings).filter(
    (text) => plan.controllers === undefined || !text.startsWith('--controllers='),
  )
  await Promise.all([
    ...inner('nodes', [`--kubeconfig=${join(dataDir, 'admin.conf')}`, servers, '--leader-elect=false', ...given(nodesCommandSettings)]),
    ...inner('controllers', [
      `--kubeconfig=${controllersConf}`,
      servers,
      `--service-account-private-key-file=${plan.signingKeyFile}`,
      // Controllers sign requests with the authority of the administrator's certificate.
      `--cluster-signing-cert-file=${join(dataDir, 'ca.crt')}`,
      `--cluster-signing-key-file=${join(dataDir, 'ca.key')}`,
      ...givenToControllers,
      ...(plan.controllers === undefined ? [] : [plan.controllers]),
    ]),
  ])
  return urls
}

/** The given flags for gateways: those of admission's plugins only if gateways host admission. */
export function gatewayFlags(given: readonly string[], { hostsAdmission }: { readonly hostsAdmission: boolean }): readonly string[] {
  const isOfPlugins = (text: string) => Object.values(pluginSettings).some(({ flag }) => text.startsWith(`${flag}=`))
  return given.filter((text) => hostsAdmission || !isOfPlugins(text))
}

function backendFlags(backend: 'etcd' | 'nats', certificates: string, role: ServiceRole): string[] {
  return [
    `--${backend}-cafile=${join(certificates, 'ca.crt')}`,
    `--${backend}-certfile=${join(certificates, `${role}.crt`)}`,
    `--${backend}-keyfile=${join(certificates, `${role}.key`)}`,
  ]
}

function printReady(
  urls: readonly string[],
  { addresses, probes, configuration, hasGivenCertificate }: Plan,
  { settings, dataDir }: UpOptions,
  { workingFolder }: Terminal,
): string {
  const lines = [
    ...urls.map((url, index) => [`gateway-${index}`, url, `${url}/readyz`]),
    ...innerServices.flatMap((service) =>
      addresses[service].map((address, index) => [`${service}-${index}`, address, probes[`${service}-${index}`]]),
    ),
  ]
  const table = lines.map(([name = '', address = '', probe = '']) => `  ${name.padEnd(14)} ${address.padEnd(24)} ${probe}`.trimEnd())
  const message = {
    profile: settings.profile,
    configuration,
    hasGivenCertificate,
    dataDir,
    isInMemory: false,
    hasControl: false,
    workingFolder,
  }
  const text = `Processes, where they are called, and where they answer probes:\n${table.join('\n')}\n${printStartMessage(message)}`
  const processes = lines.map(([process, address, probes]) => ({ process, ...(address === '' ? {} : { address }), probes }))
  return printReadyLine(settings.logFormat, text, { ...toStartFields(message), processes })
}

/**
 * A separate file for one of several gateways, because two processes cannot rotate the same file.
 *
 *   audit.log of gateway 1 → audit-gateway-1.log        - stays: standard output is shared by lines
 */
export function filePerGateway(path: string, index: number): string {
  if (path === '' || path === '-') return path
  const extension = extname(path)
  return join(dirname(path), `${basename(path, extension)}-gateway-${index}${extension}`)
}

/** A start on ports that were free a moment before. */
export interface PortAttempt<T> {
  /** Selects ports and starts on them; rejects with an `AddressTakenError` if another program was faster. */
  attempt(): Promise<T>
  /** True if the address was selected here, so that another can be used. */
  isOurs(address: string): boolean
  /** Ends the processes of the attempt. */
  stop(): Promise<void>
  /** Aborted when the start is no longer wanted. */
  readonly signal: AbortSignal
  readonly log: Log
}

/** Maximum attempts of the start, as another program is rarely faster each time. */
const attemptsMax = 5

/** Starts, and repeats that with other ports if another program has taken one meanwhile. */
export async function withOtherPorts<T>({ attempt, isOurs, stop, signal, log }: PortAttempt<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof AddressTakenError) || !isOurs(error.address) || attempts === attemptsMax || signal.aborted) throw error
      log.warn({ address: error.address }, 'another program has taken a port: starting again with others')
      await stop()
    }
  }
}
