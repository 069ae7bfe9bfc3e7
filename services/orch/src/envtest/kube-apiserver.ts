import { existsSync } from 'node:fs'
import http from 'node:http'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@orch/client'
import { bootstrap } from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import type { Store } from '@orch/core/contracts'
import { printRelease } from '@orch/core/feature-gates'
import { printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup, domainLabel, namesOf, subdomainLabel } from '@orch/core/names'
import {
  type Chance,
  type Clock,
  certificateFolder,
  certificateMemory,
  createLifecycle,
  createLog,
  eachSetting,
  endOnFailure,
  flagText,
  flagTexts,
  type Log,
  messageOf,
  readCertificates,
  readSettings,
  type Settings,
  SettingsError,
  servingNames,
  splitFlag,
  stopOnSignal,
  systemChance,
  systemClock,
  type Values,
} from '@orch/platform'
import { openLmdbStore } from '@orch/storage'
import { pluginsToDisable, readAdmission } from '../admission/settings.ts'
import { readLevel } from '../api/settings.ts'
import { readEtcd } from '../backends/connections.ts'
import { identityOf } from '../configuration/files.ts'
import { serverIdentity } from '../controllers/open.ts'
import { controllersSettings, readControllerOptions, readControllers } from '../controllers/settings.ts'
import { readEncryption } from '../encryption/open.ts'
import { readGateway } from '../gateway/settings.ts'
import type { Terminal } from '../process/terminal.ts'
import { StartError } from '../process/terminal.ts'
import { startServer } from '../server.ts'
import { readCommandSettings } from '../settings/general.ts'
import { lockDataFolder, makeDataFolder } from '../storage/open.ts'
import { dataFolderPath } from './etcd-words.ts'
import { apiServerSettings, apiServerSettingsAt, flagsWithoutObject, isDeprecated, requireFlag } from './settings.ts'

/** Controllers that run inside kube-apiserver itself; tests rely on the absence of all others. */
const ownControllers = ['bootstrap', 'flow-control', 'customresourcedefinition', 'leader-election']

/** The further controllers: names separated by commas, or `all`. */
const controllersVariable = 'ORCH_ENVTEST_CONTROLLERS'

type ApiServerValues = Values<typeof apiServerSettings>

/** `kube-apiserver` of the test assets: the server in one process, set by the flags of kube-apiserver. */
export async function kubeApiServer(terminal: Terminal, words: readonly string[]): Promise<undefined> {
  const minor = releaseOf(terminal)
  const declared = apiServerSettingsAt(minor)
  const { flags, withoutObject, deprecated } = readApiServerWords(declared, words, minor)
  const certDir = flagText(flags, '--cert-dir') ?? ''
  const isServedFromFolder = certDir !== '' && flagText(flags, '--tls-cert-file') === undefined
  const pairFlags = isServedFromFolder ? await pairOfFolder(resolve(terminal.workingFolder, certDir)) : []
  const { values, texts } = await readCommandSettings(declared, terminal, [...flags, ...pairFlags])
  if (!values.allowPrivileged)
    throw new SettingsError('--allow-privileged=false: only true; privileged containers are a matter of pod security')
  if (values.etcdServers.length === 0) throw new SettingsError('--etcd-servers must be specified')
  const settings = { ...values, ...readControllerValues(terminal.env) }
  const controllers = readControllers(settings)
  const log = createLog({ level: settings.logLevel, format: settings.logFormat })
  endOnFailure({ source: process, log, exit: () => process.exit(1) })
  if (deprecated.length > 0) log.warn({ flags: deprecated }, `deprecated in kube-apiserver ${printRelease(minor)}`)
  if (withoutObject.length > 0) log.info({ flags: withoutObject }, 'flags without object here')
  const options = {
    ...readGateway(settings),
    flags: flagTexts(declared, texts),
    advertiseAddress: settings.advertiseAddress,
    controllers,
    ...readControllerOptions(settings),
    admission: readAdmission({ ...settings, disableAdmissionPlugins: pluginsToDisable(settings, controllers) }),
    watchHistoryMs: settings.watchHistoryMs,
    encryption: readEncryption(settings),
    certificateFiles: certificateMemory(),
    hasProcessMetrics: true,
    clock: systemClock,
    chance: systemChance,
    log,
  } as const
  for (const warning of options.api.featureGates.warnings) log.warn({}, warning)
  // Before etcd is found there is nothing to close: a signal ends the process at once.
  const store = await openStore(settings, log)
  const scope = createLifecycle({ log })
  const started = Promise.withResolvers<void>()
  const signals = stopOnSignal({ source: process, log, stop: () => started.promise.then(() => scope.stop()) })
  try {
    const server = await startServer({ ...options, store })
    const { names, rules } = server
    const client = server.clientAs(serverIdentity)
    scope.onStop('identity lease', keepIdentityLease({ ...options, client, catalogue: { names, isGateOn: rules.isGateOn } }))
    scope.onStop('server', () => server.stop({ delayMs: settings.shutdownDelayMs, graceMs: settings.watchGraceMs, finishesRequests: true }))
  } catch (error) {
    signals.close()
    await scope.stop()
    throw error
  } finally {
    started.resolve()
  }
}

/** The release of the assets, which their script names in the environment. */
function releaseOf({ env }: Terminal): number {
  const text = env[apiServerSettings.emulatedVersion.env]
  return readLevel(text === undefined ? [] : [text])
}

/** The settings of controllers, which kube-apiserver has no flags for. They come from the environment alone. */
export function readControllerValues(env: Terminal['env']): Values<typeof controllersSettings> {
  const { values } = readSettings(controllersSettings, { flags: [], env })
  const wanted = (env[controllersVariable] ?? '').split(',').filter((name) => name !== '')
  return { ...values, controllers: [...ownControllers, ...wanted.map((name) => (name === 'all' ? '*' : name))] }
}

/** The state is in the folder of the etcd of the test assets, or in a real etcd. */
async function openStore(settings: ApiServerValues, log: Log): Promise<Store> {
  const { profile, etcdPrefix } = settings
  const etcd = readEtcd({ ...settings, etcdUsername: '', etcdPasswordFile: '', insecureTransport: false })
  const dataFolder = await findDataFolder(etcd.servers, systemClock)
  try {
    if (dataFolder === undefined) {
      const { openEtcdStore } = await import('@orch/storage/etcd')
      return await openEtcdStore({ ...etcd, clock: systemClock, log })
    }
    const directory = join(dataFolder, 'orch', encodeURIComponent(etcdPrefix))
    makeDataFolder(directory, log)
    lockDataFolder(directory)
    return await openLmdbStore({ directory, profile })
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error })
  }
}

/** Flags for the serving certificate in a folder, which is generated if it does not exist. */
async function pairOfFolder(folder: string): Promise<string[]> {
  const certificateFile = join(folder, 'apiserver.crt')
  const keyFile = join(folder, 'apiserver.key')
  if (!existsSync(certificateFile) || !existsSync(keyFile)) {
    const names = servingNames({
      names: namesOf('kubernetes'),
      hostName: 'localhost',
      bindAddress: '127.0.0.1',
      serviceAddress: '10.0.0.1',
    })
    const { serving, authority } = await readCertificates({ files: certificateMemory(), product: 'apiserver', names, clock: systemClock })
    const files = certificateFolder(folder)
    files.write('apiserver.key', serving.key)
    files.write('apiserver.crt', `${serving.certificate.trim()}\n${authority.trim()}\n`)
  }
  return [`--tls-cert-file=${certificateFile}`, `--tls-private-key-file=${keyFile}`]
}

/** Values of true and false as Go's strconv.ParseBool reads them. */
const truths: Readonly<Record<string, string>> = Object.fromEntries([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, 'true']),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, 'false']),
])

/**
 * Reads a command line of kube-apiserver 1.`minor` as pflag does: `--name=value`, `--name value`, and for booleans `--name` alone. Flags of other
 * releases are refused. Unknown flags are kept; the reader of settings refuses them with a reason.
 */
export function readApiServerWords(settings: Settings, words: readonly string[], minor: number) {
  const settingTypesByFlag = new Map(eachSetting(settings).map(({ flag, type }): [string, typeof type] => [flag, type]))
  const flags: string[] = []
  const withoutObject = new Set<string>()
  const deprecated = new Set<string>()
  for (let index = 0; index < words.length; index++) {
    const word = longName(words[index] ?? '')
    // kube-apiserver ignores empty words.
    if (word === '') continue
    if (!word.startsWith('--') || word === '--') throw new SettingsError(`unexpected argument ${word}: flags begin with --`)
    const given = splitFlag(word)
    const flag = given.flag.replaceAll('_', '-')
    requireFlag(flag, minor)
    if (isDeprecated(flag, minor)) deprecated.add(flag)
    const tuning = flagsWithoutObject.get(flag)
    const isBoolean = tuning?.isBoolean ?? settingTypesByFlag.get(flag)?.word === ''
    const isKnown = tuning !== undefined || settingTypesByFlag.has(flag) || flag === insecurePort
    const text = given.text ?? (isBoolean ? 'true' : isKnown ? words[++index] : undefined)
    if (text === undefined && isKnown) throw new SettingsError(`flag needs an argument: ${flag}`)
    if (flag === insecurePort) checkInsecurePort(text)
    else if (tuning !== undefined) withoutObject.add(flag)
    else flags.push(text === undefined ? flag : `${flag}=${isBoolean ? (truths[text] ?? text) : text}`)
  }
  return {
    /** `--name=value`, for settings. */
    flags,
    /** Names of the flags without effect, each once. */
    withoutObject: [...withoutObject],
    /** Names of the deprecated flags, each once. */
    deprecated: [...deprecated],
  }
}

/** The only short form: `-v=4`, `-v 4`, `-v4`. */
function longName(word: string): string {
  const short = /^-v(?:=?(.+))?$/.exec(word)
  if (short === null) return word
  return short[1] === undefined ? '--v' : `--v=${short[1]}`
}

const insecurePort = '--insecure-port'

/** Older harnesses disable the insecure port that servers before 1.24 had. */
function checkInsecurePort(text: string | undefined): void {
  if (text !== '0') throw new SettingsError(`${insecurePort}=${text}: there is only the port of --secure-port; 0 is accepted`)
}

/** Some harnesses start both programs at once, so etcd may listen later. */
const waitMs = 20_000
const retryMs = 30

/** The data folder of the etcd at the first of these URLs that answers; undefined for a real etcd. Waits up to 20 s. */
async function findDataFolder(servers: readonly string[], clock: Clock): Promise<string | undefined> {
  const endMs = clock.monotonic() + waitMs
  for (;;) {
    for (const server of servers) {
      const found = await ask(server)
      if (found !== undefined) return found.dataFolder
    }
    if (clock.monotonic() > endMs) throw new StartError(`--etcd-servers=${servers.join(',')}: none answered within ${waitMs / 1000} s`)
    await sleep(retryMs)
  }
}

/** Undefined if no program listens there yet. */
async function ask(server: string): Promise<{ readonly dataFolder: string | undefined } | undefined> {
  if (server.startsWith('https:')) return { dataFolder: undefined }
  try {
    const { statusCode, text } = await get(new URL(dataFolderPath, server))
    return { dataFolder: statusCode === 200 ? readAnswer(text) : undefined }
  } catch {
    return undefined
  }
}

/** A request over a new connection, which ends with the request. */
function get(url: URL): Promise<{ readonly statusCode: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, timeout: 5_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ statusCode: response.statusCode, text }))
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error(`${url} does not answer`)))
    request.on('error', reject)
  })
}

function readAnswer(text: string): string | undefined {
  const answer: unknown = JSON.parse(text)
  if (typeof answer !== 'object' || answer === null || !('dataFolder' in answer)) return undefined
  return typeof answer.dataFolder === 'string' ? answer.dataFolder : undefined
}

export interface IdentityLeaseNeeds {
  readonly client: Client
  readonly catalogue: Pick<Catalogue, 'names' | 'isGateOn'>
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
}

/** kube-apiserver renews its Lease every 10 s; once in half the Lease's time keeps it valid, and an idle server idle. */
const [durationSeconds, renewMs] = [3600, 1_800_000]

/** Writes the Lease that identifies this server in the system namespace, and renews it. Returns a function that stops. */
export function keepIdentityLease({ client, catalogue, clock, chance, log }: IdentityLeaseNeeds): () => void {
  const { names, isGateOn } = catalogue
  if (!isGateOn('APIServerIdentity')) return () => {}
  const resource = { group: domainGroup(names, 'coordination'), version: 'v1', plural: 'leases', namespaced: true }
  const host = hostname()
  const name = identityOf(host)
  const holderIdentity = `${name}_${chance.uuid()}`
  const labels = { [subdomainLabel(names, 'apiserver', 'identity')]: names.serverManager, [domainLabel(names, 'hostname')]: host }
  const renew = async () => {
    const spec = { holderIdentity, leaseDurationSeconds: durationSeconds, renewTime: printMicroTime(toInstant(clock.now())) }
    const object = { apiVersion: `${resource.group}/v1`, kind: 'Lease', metadata: { name, namespace: names.systemNamespace, labels }, spec }
    await bootstrap(client, [{ resource, object }])
  }
  const tryToRenew = () => void renew().catch((err: unknown) => log.warn({ err }, 'the Lease of this server could not be written'))
  tryToRenew()
  const timer = clock.every(renewMs, tryToRenew)
  return () => timer.cancel()
}
