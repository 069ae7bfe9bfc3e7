import { type Attributes, keysOf } from '@orch/core/contracts'
import { generateName } from '@orch/core/meta'
import { domainLabel } from '@orch/core/names'
import { type BuiltIn, parseStored } from '@orch/core/schema'
import { type Clock, ended, onAbort, Reflector } from '@orch/platform'
import { limits } from '../limits.ts'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Registration, type Verdict } from '../plugin.ts'
import { type Pod, type PodSpec, podOf } from './pod.ts'
import { secretReferences } from './service-account-secrets.ts'
import { type MutablePodSpec, tokenMounts } from './service-account-token.ts'

/** Enabled by default. */
export const serviceAccount: Registration = { isDefault: true, create: createServiceAccount }

type Account = BuiltIn<'core/v1.ServiceAccount'>

const prefix = 'core/serviceaccounts'
const defaultName = 'default'

/**
 * ServiceAccount: a pod without an account gets the default account of its namespace, with a token volume and image pull secrets. The account must
 * exist, and may limit its pods to its own secrets.
 */
function createServiceAccount(needs: PluginNeeds): Plugin {
  const { catalogue, chance } = needs
  const { names } = catalogue
  const accounts = new Accounts(needs)
  const keyOf = keysOf(prefix)
  const tokens = tokenMounts(names)
  const mirrorAnnotation = domainLabel(names, 'config.mirror')
  const limitAnnotation = domainLabel(names, 'enforce-mountable-secrets')
  const isMirror = ({ metadata }: Pod) => metadata.annotations?.[mirrorAnnotation] !== undefined
  const volumes = chance.stream('volume name')
  const volumeName = () => generateName(`${names.tokenVolumePrefix}-`, (bound) => Math.floor(volumes.fraction() * bound))
  const given = (pod: Pod, account: Account, name: string): Verdict => {
    const spec = withAccount(pod.spec, name, account)
    const isMounted = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
    if (isMounted) tokens.mount(spec, volumeName)
    return { kind: 'allowed', object: { ...pod, spec } }
  }
  const checked = (attributes: Attributes, pod: Pod): Verdict | Promise<Verdict> => {
    if (isMirror(pod)) {
      const problem = mirrorProblem(pod)
      return problem === undefined ? allowed : denied(forbid(attributes, problem))
    }
    const name = pod.spec.serviceAccountName ?? ''
    if (name === '') return denied(forbid(attributes, `no service account specified for pod ${attributes.namespace}/${attributes.name}`))
    return withFound(attributes, name, (account) => {
      const problem = isLimited(account, limitAnnotation) ? secretProblem(pod, account) : undefined
      return problem === undefined ? allowed : denied(forbid(attributes, problem))
    })
  }
  /** The account must exist. */
  const withFound = (attributes: Attributes, name: string, decide: (account: Account) => Verdict): Verdict | Promise<Verdict> => {
    const key = keyOf(attributes.namespace, name)
    const known = accounts.known(key)
    if (known !== undefined) return decide(known)
    return accounts.find(key, name === defaultName).then((found) => {
      if (found !== undefined) return decide(found)
      const why = `error looking up service account ${attributes.namespace}/${name}: serviceaccount "${name}" not found`
      return denied(forbid(attributes, why))
    })
  }
  return {
    admissionRules: [
      { phase: '*', operations: ['CREATE'], groups: [''], resources: ['pods'], namespaces: [] },
      { phase: 'validate', operations: ['UPDATE'], groups: [''], resources: ['pods/ephemeralcontainers'], namespaces: [] },
    ],
    mutate(attributes) {
      const pod = podOf(attributes)
      if (isMirror(pod)) return checked(attributes, pod)
      const name = pod.spec.serviceAccountName || defaultName
      return withFound(attributes, name, (account) => given(pod, account, name))
    },
    validate: (attributes) => checked(attributes, podOf(attributes)),
    looksOnly: () => true,
    close: () => accounts.close(),
  }
}

/** A copy of the pod with the account. */
function withAccount(spec: PodSpec, name: string, { imagePullSecrets = [] }: Account): MutablePodSpec {
  // The second field is the deprecated name of the first.
  const named: MutablePodSpec = { ...spec, serviceAccountName: name, serviceAccount: name }
  if ((spec.imagePullSecrets ?? []).length > 0 || imagePullSecrets.length === 0) return named
  named.imagePullSecrets = imagePullSecrets.map(({ name = '' }) => ({ name }))
  return named
}

/** A mirror pod must not refer to objects of the server. */
function mirrorProblem(pod: Pod): string | undefined {
  if ((pod.spec.serviceAccountName ?? '') !== '') return 'a mirror pod may not reference service accounts'
  if (secretReferences(pod).length > 0) return 'a mirror pod may not reference secrets'
  const isTokenProjected = (pod.spec.volumes ?? []).some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken != null),
  )
  return isTokenProjected ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined
}

/** True if an account limits its pods to its own secrets. */
function isLimited({ metadata }: Account, annotation: string): boolean {
  return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(metadata.annotations?.[annotation] ?? '')
}

function secretProblem(pod: Pod, account: Account): string | undefined {
  const named = (list: Account['secrets']) => new Set(list?.map(({ name }) => name))
  const [mountable, forImages] = [named(account.secrets), named(account.imagePullSecrets)]
  const bad = secretReferences(pod).find(({ secret, isForImages }) => !(isForImages ? forImages : mountable).has(secret))
  if (bad === undefined) return undefined
  return `${bad.where} is not allowed because service account ${account.metadata.name} does not reference that ${bad.isForImages ? 'imagePullSecret' : 'secret'}`
}

const decode = (value: Uint8Array): Account => parseStored('core/v1.ServiceAccount', value)

/** All accounts in memory. */
class Accounts {
  readonly #needs: PluginNeeds
  readonly #closed = new AbortController()
  readonly #reflector: Reflector<Account>

  constructor(needs: PluginNeeds) {
    const { storage, clock, log, random } = needs
    this.#needs = needs
    this.#reflector = new Reflector({ storage, clock, log, random, resource: prefix, decode, signal: this.#closed.signal })
  }

  known(key: string): Account | undefined {
    return this.#reflector.get(key)
  }

  /** An account that memory lacks is read from storage. The default account of a new namespace may not exist yet, so it is waited for. */
  async find(key: string, isDefault: boolean): Promise<Account | undefined> {
    const { entry } = await this.#needs.storage.get({ key, read: { kind: 'latest' } })
    if (entry !== undefined) return decode(entry.value)
    return isDefault ? this.#arrival(key, this.#needs.clock) : undefined
  }

  close(): void {
    this.#closed.abort(ended)
  }

  #arrival(key: string, clock: Clock): Promise<Account | undefined> {
    const { promise, resolve } = Promise.withResolvers<Account | undefined>()
    const timer = clock.after(limits.defaultAccountWaitMs, () => resolve(this.#reflector.get(key)))
    const forget = this.#reflector.onChange((change) => {
      if (change.key === key && change.after !== undefined) resolve(change.after)
    })
    const end = () => resolve(undefined)
    onAbort(this.#closed.signal, end)
    // The account may have arrived between the read and the registration of the listener.
    const already = this.#reflector.get(key)
    if (already !== undefined) resolve(already)
    return promise.finally(() => {
      timer.cancel()
      forget()
      this.#closed.signal.removeEventListener('abort', end)
    })
  }
}
