import { type Informer, type ResourceAddress, startInformer } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainLabel, type Names } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import { accountUserName, printSecretClaims, type SecretClaims, secretTokenIssuer, secretTokenType } from '@orch/core/tokens'
import { createWorkqueue, type SigningKey, sleep, type Workqueue } from '@orch/platform'
import type { Controller, ControllerContext } from '../controller.ts'
import { unlessGone } from '../unless-refused.ts'
import { secrets } from './bootstrap-secrets.ts'

/** What tokens are signed with. */
export interface SecretTokenOptions {
  readonly signingKey: SigningKey
  /** PEM; by it the holder of a token knows the server. */
  readonly certificateAuthority: string
}

const serviceAccounts: ResourceAddress = { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }

/** Fills Secrets of the type for tokens of service accounts, and deletes those whose account is not there. */
export function secretTokenController(options: SecretTokenOptions): Controller {
  return { name: 'serviceaccount-token', run: (context) => new SecretTokens(options, context).run() }
}

/** One run of the controller, with its informers and its queue of Secrets. */
class SecretTokens {
  readonly #options: SecretTokenOptions
  readonly #context: ControllerContext
  readonly #queue: Workqueue
  readonly #secrets: Informer<ApiObject>
  readonly #accounts: Informer<ApiObject>
  /** Deleted Secrets that their accounts may still refer to, by key. */
  readonly #deleted = new Map<string, ApiObject>()

  constructor(options: SecretTokenOptions, context: ControllerContext) {
    this.#options = options
    this.#context = context
    const { client, names, queues, clock, random, log, signal } = context
    this.#queue = createWorkqueue({
      name: 'serviceaccount-token',
      metrics: queues,
      work: (key) => this.#fill(key),
      onError: (key, error) => log.debug({ secret: key, err: error }, 'the Secret of a service account could not be filled yet'),
      clock,
      random,
      signal,
      workersMax: 2,
    })
    const common = {
      signal,
      sleep: (delayMs: number, ending: AbortSignal) => sleep(clock, delayMs, ending),
      random,
      onError: (error: unknown) => log.debug({ err: error }, 'service accounts or their Secrets are listed or watched again'),
    }
    this.#secrets = startInformer({
      ...common,
      resource: client.resource(secrets),
      select: { fieldSelector: `type=${secretTokenType(names)}` },
      onEvent: ({ kind, object }) => {
        if (kind === 'deleted') this.#deleted.set(keyOf(object), object)
        this.#queue.add(keyOf(object))
      },
    })
    this.#accounts = startInformer({
      ...common,
      resource: client.resource(serviceAccounts),
      onEvent: ({ object: { metadata } }) => {
        for (const secret of this.#secrets.values()) {
          const isNamed = secret.metadata.namespace === metadata.namespace && accountNameOf(secret, names) === metadata.name
          if (isNamed) this.#queue.add(keyOf(secret))
        }
      },
    })
  }

  /** Resolves when the signal is raised and nothing is under way. */
  async run(): Promise<void> {
    await Promise.all([this.#secrets.done, this.#accounts.done])
    await this.#queue.close()
  }

  async #fill(key: string): Promise<void> {
    const { client, names, signal } = this.#context
    await Promise.race([Promise.all([this.#secrets.synced, this.#accounts.synced]), this.#secrets.done])
    if (signal.aborted) return
    const [namespace = '', name = ''] = key.split('/')
    const deleted = this.#deleted.get(key)
    if (deleted !== undefined) await this.#removeReference(deleted)
    this.#deleted.delete(key)
    const secret = this.#secrets.get(name, namespace)
    if (secret === undefined || secret.metadata.deletionTimestamp != null) return
    const known = this.#accounts.get(accountNameOf(secret, names), namespace)
    if (known !== undefined && isTheirs(secret, known, names) && isWhole(secret, this.#options)) return
    // The informers may be behind the server, and neither signing nor deleting can be undone.
    const account = await this.#liveAccount(secret)
    if (account === undefined || !isTheirs(secret, account, names)) return this.#delete(secret)
    if (isWhole(secret, this.#options)) return
    const data = await dataOf(secret, account, names, this.#options)
    const annotations = { ...secret.metadata.annotations, [domainLabel(names, 'service-account.uid')]: account.metadata.uid ?? '' }
    await client.resource(secrets).update({ ...secret, metadata: { ...secret.metadata, annotations }, data }, { signal })
  }

  async #liveAccount(secret: ApiObject): Promise<ApiObject | undefined> {
    const { client, names, signal } = this.#context
    const name = accountNameOf(secret, names)
    if (name === '') return undefined
    const { namespace } = secret.metadata
    return unlessGone(() => client.resource<ApiObject>(serviceAccounts).get(name, { namespace, signal }))
  }

  /** An account does not refer to a Secret that is gone. One of the same name that has come since is referred to as before. */
  async #removeReference(secret: ApiObject): Promise<void> {
    const { client, names, signal } = this.#context
    const { name, namespace = '' } = secret.metadata
    if (this.#secrets.get(name ?? '', namespace) !== undefined) return
    const known = this.#accounts.get(accountNameOf(secret, names), namespace)
    if (known === undefined || !refersTo(known, name)) return
    const account = await this.#liveAccount(secret)
    if (account === undefined || !isTheirs(secret, account, names) || !refersTo(account, name)) return
    const others = secretsOf(account).filter((reference) => reference.name !== name)
    await unlessGone(() => client.resource(serviceAccounts).update({ ...account, secrets: others }, { signal }))
  }

  async #delete({ metadata: { name = '', namespace, uid } }: ApiObject): Promise<void> {
    const { client, signal } = this.#context
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    await unlessGone(() => client.resource(secrets).delete(name, { namespace, signal }, preconditions))
  }
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace}/${name}`
}

function accountNameOf({ metadata }: ApiObject, names: Names): string {
  return metadata.annotations?.[domainLabel(names, 'service-account.name')] ?? ''
}

/** Whether a Secret may hold a token of the account: a Secret that names a uid is of that account alone. */
function isTheirs({ metadata }: ApiObject, account: ApiObject, names: Names): boolean {
  const uid = metadata.annotations?.[domainLabel(names, 'service-account.uid')]
  return uid === undefined || uid === '' || account.metadata.uid === uid
}

function secretsOf(account: ApiObject): readonly { readonly name?: string }[] {
  return requireType('core/v1.ServiceAccount', account).secrets ?? []
}

function refersTo(account: ApiObject, secret: string | undefined): boolean {
  return secretsOf(account).some(({ name }) => name === secret)
}

function dataIn(secret: ApiObject): Readonly<Record<string, string>> {
  return requireType('core/v1.Secret', secret).data ?? {}
}

/** Whether the Secret holds all that it has to. */
function isWhole(secret: ApiObject, { certificateAuthority }: SecretTokenOptions): boolean {
  const data = dataIn(secret)
  return (data['token'] ?? '') !== '' && (data['namespace'] ?? '') !== '' && data['ca.crt'] === inBase64(certificateAuthority)
}

/** What the Secret has to hold. */
async function dataOf(
  secret: ApiObject,
  account: ApiObject,
  names: Names,
  { signingKey, certificateAuthority }: SecretTokenOptions,
): Promise<Record<string, string>> {
  const { namespace = '', name: secretName = '' } = secret.metadata
  const data = dataIn(secret)
  const { name = '', uid = '' } = account.metadata
  const token = data['token'] || inBase64(await sign({ namespace, secretName, account: { name, uid } }, names, signingKey))
  return { ...data, token, 'ca.crt': inBase64(certificateAuthority), namespace: data['namespace'] || inBase64(namespace) }
}

function inBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

async function sign(claims: SecretClaims, names: Names, { id, algorithm, privateKey }: SigningKey): Promise<string> {
  const { CompactSign } = await import('jose')
  const payload = {
    iss: secretTokenIssuer(names),
    ...printSecretClaims(names, claims),
    sub: accountUserName(claims.namespace, claims.account.name),
  }
  return new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: algorithm, kid: id }).sign(privateKey)
}
