import { type Client, type ClientConfiguration, createClient, createHttpsTransport, printConfiguration, type Transport } from '@orch/client'
import { everything, type PolicyRule } from '@orch/core/rbac'
import type { Fault, FaultHandle } from '@orch/gateway'
import { type ClientIssuer, generateKeysNow, type KeyKind, type Keys, knownCertificate } from '@orch/platform'
import { type Requests, requestsIn } from './requests.ts'
import {
  type ScenarioParts,
  scenariosOf,
  type UserFaults,
  type UserReads,
  type UserScenarios,
  type UserWatches,
  type WeatherParts,
  weatherOf,
} from './user-weather.ts'

/** Rights of a user of a test. */
export interface UserOptions {
  /** Groups in addition to `system:authenticated`. */
  readonly groups?: readonly string[]
  /** Rights in all namespaces, as in a ClusterRole; all rights by default. A reset keeps them. */
  readonly rules?: readonly PolicyRule[]
}

/** A client of a test with a separate name, by which the server identifies its requests. */
export interface ServerUser {
  readonly name: string
  /** A client configuration file with the user's certificate, for any client. */
  readonly kubeconfig: string
  readonly client: Client
  /** The user's requests. */
  readonly requests: Requests
  /** Faults that affect only the user's requests. */
  readonly faults: UserFaults
  readonly watches: UserWatches
  readonly reads: UserReads
  /** Scenarios of several faults. */
  readonly scenarios: UserScenarios
}

/** The faults of a server. */
export interface ServerFaults {
  /** Adds a fault, which is active at once until it is removed. */
  add(fault: Fault): FaultHandle
  /** Removes all faults. */
  clear(): void
}

/** The fingerprint of a certificate in PEM, in lower-case hexadecimal digits; '' without a certificate. */
export function fingerprintOf(certificate: string | undefined): string {
  return certificate === undefined ? '' : knownCertificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()
}

/** The keys of all users in this process; each is created at its first use. */
const keysOf: Readonly<Record<KeyKind, () => Keys>> = {
  RSA: once(() => generateKeysNow('RSA')),
  'P-256': once(() => generateKeysNow('P-256')),
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A kubeconfig with an RSA key, which every client can read. Created on demand, because that takes longer than the start. */
export function kubeconfigOf(
  { cluster, user, groups }: { readonly cluster: string; readonly user: string; readonly groups: readonly string[] },
  { configuration, issue }: Pick<UserParts, 'configuration' | 'issue'>,
): string {
  const { certificate, key } = issue({ commonName: user, organizations: groups }, keysOf.RSA())
  return printConfiguration({ cluster, user, configuration: { ...configuration, clientCertificate: certificate, clientKey: key } })
}

/** The parts of a server that its users need. */
export interface UserParts extends WeatherParts, ScenarioParts {
  /** The administrator's client. */
  readonly configuration: ClientConfiguration
  readonly cluster: string
  readonly issue: ClientIssuer
  readonly giveRules: (user: string, rules: readonly PolicyRule[]) => void
  /** Called with each new user. */
  readonly onMade: (user: ServerUser) => void
  /** Counts requests in transit to the gateways. */
  readonly counted: (transport: Transport) => Transport
}

/** A user in a form from which another server can create it. */
export interface NamedUser {
  readonly name: string
  readonly options: UserOptions | undefined
}

interface KnownUser {
  readonly user: ServerUser
  readonly options: UserOptions | undefined
  close(): void
}

/** Maximum groups of a user: a certificate with 60,000 takes a second. */
const groupsMax = 1_000

/** The users of one server, each created once. */
export class ServerUsers {
  readonly #parts: UserParts
  readonly #users = new Map<string, KnownUser>()

  constructor(parts: UserParts) {
    this.#parts = parts
  }

  /** The user with a name. The options are those of the first call; a later call with options throws. */
  get(name: string, options?: UserOptions): ServerUser {
    const known = this.#users.get(name)
    if (known !== undefined && options === undefined) return known.user
    if (known !== undefined) throw new TypeError(`user(${JSON.stringify(name)}): the user has been made, its options cannot be changed`)
    if (name === '') throw new TypeError('user(): the name of a user must not be empty')
    const { groups = [], rules = everything, ...others } = options ?? {}
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) throw new TypeError(`user(${JSON.stringify(name)}): unknown option ${unknown}: expected groups or rules`)
    if (groups.length > groupsMax) throw new TypeError(`user(${JSON.stringify(name)}): ${groups.length} groups: at most ${groupsMax}`)
    this.#parts.giveRules(name, rules)
    const made = createUser(name, groups, this.#parts)
    this.#users.set(name, { ...made, options })
    this.#parts.onMade(made.user)
    return made.user
  }

  /** The created users, for another server. */
  get known(): readonly NamedUser[] {
    return [...this.#users].map(([name, { options }]) => ({ name, options }))
  }

  get names(): readonly string[] {
    return [...this.#users.keys()]
  }

  close(): void {
    for (const { close } of this.#users.values()) close()
  }
}

function createUser(name: string, groups: readonly string[], parts: UserParts): { readonly user: ServerUser; close(): void } {
  const { configuration, cluster, issue, log, faults, counted } = parts
  const kubeconfig = once(() => kubeconfigOf({ cluster, user: name, groups }, parts))
  let opened: Client | undefined
  const open = (): Client => {
    const { certificate, key } = issue({ commonName: name, organizations: groups }, keysOf['P-256']())
    faults.addClient(fingerprintOf(certificate), { isHarness: false })
    const transport = createHttpsTransport({ ...configuration, clientCertificate: certificate, clientKey: key })
    return createClient(counted(transport))
  }
  const weather = weatherOf(name, parts)
  const user: ServerUser = {
    name,
    get kubeconfig() {
      return kubeconfig()
    },
    get client() {
      opened ??= open()
      return opened
    },
    requests: requestsIn(log, { user: name }),
    ...weather,
    scenarios: scenariosOf(weather, parts),
  }
  return { user, close: () => opened?.close() }
}
