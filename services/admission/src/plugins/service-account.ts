import { type Attributes, keysOf } from '@orch/core/contracts'
import { goQuote } from '@orch/core/json'
import { generateName } from '@orch/core/meta'
import { domainLabel, type Names } from '@orch/core/names'
import { type BuiltIn, parseStored, sharedPart } from '@orch/core/schema'
import { type Clock, ended, onAbort, Reflector } from '@orch/platform'
import { limits } from '../limits.ts'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { type Container, type Pod, type PodSpec, podOf } from './pod.ts'

type Account = BuiltIn<'core/v1.ServiceAccount'>

const prefix = 'core/serviceaccounts'
const defaultName = 'default'

/**
 * ServiceAccount: a pod without an account gets the default account of its namespace, with a token volume and image pull secrets. The account must
 * exist, and may limit its pods to its own secrets.
 */
export function serviceAccount(needs: PluginNeeds): Plugin {
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
      const isLimited = ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(account.metadata.annotations?.[limitAnnotation] ?? '')
      const problem = isLimited ? secretProblem(pod, account) : undefined
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
      const why = `error looking up service account ${attributes.namespace}/${name}: serviceaccount ${goQuote(name)} not found`
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

/** A reference from a pod to a Secret. */
interface SecretReference {
  readonly secret: string
  /** The path for a message. */
  readonly where: string
  readonly isForImages: boolean
}

function secretReferences({ spec }: Pod): SecretReference[] {
  const volumes = (spec.volumes ?? []).flatMap(({ secret }) =>
    secret == null ? [] : [reference(secret.secretName, (name) => `volume with secret.secretName=${name}`)],
  )
  const forImages = (spec.imagePullSecrets ?? []).map(({ name }, index) => ({
    ...reference(name, (text) => `imagePullSecrets[${index}].name=${text}`),
    isForImages: true,
  }))
  return [
    ...volumes,
    ...(spec.initContainers ?? []).flatMap((container) => containerReferences(container, 'init container')),
    ...(spec.containers ?? []).flatMap((container) => containerReferences(container, 'container')),
    ...(spec.ephemeralContainers ?? []).flatMap((container) => containerReferences(container, 'ephemeral container')),
    ...forImages,
  ]
}

function containerReferences(
  { name: container, env = [], envFrom = [] }: Pick<Container, 'name' | 'env' | 'envFrom'>,
  kind: string,
): SecretReference[] {
  const single = env.flatMap(({ name: variable, valueFrom }) => {
    const secret = valueFrom?.secretKeyRef
    if (secret == null) return []
    return [reference(secret.name, (text) => `${kind} ${container} with envVar ${variable} referencing secret.secretName=${text}`)]
  })
  const whole = envFrom.flatMap(({ secretRef }) => {
    if (secretRef == null) return []
    return [reference(secretRef.name, (text) => `${kind} ${container} with envFrom referencing secret.secretName=${text}`)]
  })
  return [...single, ...whole]
}

function reference(secret = '', where: (quoted: string) => string): SecretReference {
  return { secret, where: where(JSON.stringify(secret)), isForImages: false }
}

/** An hour and seven seconds, which marks tokens that were requested in this way. */
const expirationSeconds = 3607
/** The file mode 0644. */
const fileMode = 420

/** A copy of the spec whose members may be set; nested values may not be changed. */
type MutablePodSpec = { -readonly [K in keyof PodSpec]: PodSpec[K] }

/** Adds a volume to Pods with a token, the server's certificate and the namespace. */
function tokenMounts(names: Names) {
  const mountPath = `/var/run/secrets/${names.labelDomain}/serviceaccount`
  const volumePrefix = `${names.tokenVolumePrefix}-`
  const projected = tokenSources(names)
  const lacks = ({ volumeMounts }: Container) => volumeMounts === undefined || volumeMounts.every((mount) => mount.mountPath !== mountPath)
  return {
    /** Adds the volume, and mounts in containers. Existing mounts stay. */
    mount(spec: MutablePodSpec, makeName: () => string) {
      const { initContainers } = spec
      const volumes = spec.volumes ?? []
      const containers = spec.containers ?? []
      if (!containers.some(lacks) && initContainers?.some(lacks) !== true) return
      const existing = volumes.find(({ name }) => name?.startsWith(volumePrefix))?.name
      const name = existing ?? makeName()
      const withMount = (container: Container): Container =>
        lacks(container)
          ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }] }
          : container
      spec.containers = containers.map(withMount)
      if (initContainers !== undefined) spec.initContainers = initContainers.map(withMount)
      if (existing === undefined) spec.volumes = [...volumes, { name, projected }]
    },
  }
}

/** Equal in every Pod. */
function tokenSources(names: Names) {
  return sharedPart('core/v1.ProjectedVolumeSource', {
    sources: [
      { serviceAccountToken: { expirationSeconds, path: 'token' } },
      { configMap: { name: names.rootCertificateConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: fileMode,
  })
}
