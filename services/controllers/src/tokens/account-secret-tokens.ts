import { unlessGone } from '@orch/client'
import type { Catalogue } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import { domainLabel, type Names } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import {
  accountUserName,
  printSecretClaims,
  type SecretClaims,
  secretTokenIssuer,
  secretTokenType,
  trackingMapName,
  withTrackingDay,
} from '@orch/core/tokens'
import type { SigningKey } from '@orch/platform'
import { keyOf } from '../informers/object-keys.ts'
import { type Controller, done, type Mapped, mapped, type Own, own, type Result, reconciler, type World } from '../reconciler/index.ts'

/** The dependencies of signing. */
export interface SecretTokenOptions {
  readonly signingKey: SigningKey
  /** The CA certificate in PEM, with which the holder of a token verifies the server. */
  readonly certificateAuthority: string
}

/** Fills Secrets of the type for tokens of service accounts, and deletes those whose account does not exist. */
export function secretTokenController(options: SecretTokenOptions, { isGateOn }: Pick<Catalogue, 'isGateOn'>): Controller {
  return reconciler('serviceaccount-token', ({ names }) => {
    const secrets = tokenSecrets(names)
    let isTracked = !isGateOn('LegacyServiceAccountTokenTracking')
    const accounts = mapped('v1', 'serviceaccounts', ({ object: { metadata } }, caches) =>
      [...caches.read(secrets).inNamespace(metadata.namespace)]
        .filter((secret) => accountNameOf(secret, names) === metadata.name)
        .map(keyOf),
    )
    return {
      watches: [secrets, accounts],
      workersMax: 2,
      reconcile: async ({ object, world, clock, signal }) => {
        const result = await fill(object, { world, signal, options, secrets, accounts })
        if (!isTracked) await noteTracking({ world, nowMs: clock.now(), signal })
        isTracked = true
        return result
      },
      absent: ({ last, world, signal }) => removeReference(last, { world, signal, accounts }),
    }
  })
}

/** The watch of Secrets with tokens of service accounts. */
export function tokenSecrets(names: Names): Own<ApiObject> {
  return own('v1', 'secrets', { select: { fieldSelector: `type=${secretTokenType(names)}` } })
}

interface Tracking {
  readonly world: World
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** Records the day from which on gateways note the use of tokens in Secrets (WL-SA-01), with the first such Secret. */
async function noteTracking({ world: { client, names }, nowMs, signal }: Tracking): Promise<void> {
  const maps = client.resource(configMaps)
  const [name, namespace] = [trackingMapName, names.systemNamespace]
  const live = await unlessGone(() => maps.get(name, { namespace, signal }))
  const map = withTrackingDay(live ?? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }, nowMs)
  if (map === undefined) return
  await (live === undefined ? maps.create(map, { signal }) : maps.update(map, { signal }))
}

export const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true } as const

interface Filling {
  readonly world: World
  readonly signal: AbortSignal
  readonly options: SecretTokenOptions
  readonly secrets: Own<ApiObject>
  readonly accounts: Mapped<ApiObject>
}

async function fill(secret: ApiObject, filling: Filling): Promise<Result> {
  const { world, signal, options, secrets } = filling
  const { names } = world
  if (secret.metadata.deletionTimestamp != null) return done
  const known = cachedAccount(secret, filling)
  if (known !== undefined && isTheirs(secret, known, names) && isWhole(secret, options)) return done
  // The caches may be outdated, and neither signing nor deleting can be undone.
  const account = await liveAccount(secret, filling)
  if (account === undefined || !isTheirs(secret, account, names)) return deleteSecret(secret, filling)
  if (isWhole(secret, options)) return done
  const data = await dataOf(secret, account, names, options)
  const annotations = { ...secret.metadata.annotations, [domainLabel(names, 'service-account.uid')]: account.metadata.uid ?? '' }
  await world.collection(secrets).update({ ...secret, metadata: { ...secret.metadata, annotations }, data }, { signal })
  return done
}

/** Removes an account's reference to a deleted Secret. */
async function removeReference(secret: ApiObject | undefined, place: Omit<Filling, 'options' | 'secrets'>): Promise<Result> {
  if (secret === undefined) return done
  const { world, signal, accounts } = place
  const { name } = secret.metadata
  const known = cachedAccount(secret, place)
  if (known === undefined || !refersTo(known, name)) return done
  const account = await liveAccount(secret, place)
  if (account === undefined || !isTheirs(secret, account, world.names) || !refersTo(account, name)) return done
  const others = secretsOf(account).filter((reference) => reference.name !== name)
  await unlessGone(() => world.collection(accounts).update({ ...account, secrets: others }, { signal }))
  return done
}

async function deleteSecret({ metadata: { name = '', namespace, uid } }: ApiObject, { world, secrets, signal }: Filling): Promise<Result> {
  const preconditions = uid === undefined ? {} : { preconditions: { uid } }
  await unlessGone(() => world.collection(secrets).delete(name, { namespace, signal }, preconditions))
  return done
}

function cachedAccount(secret: ApiObject, { world, accounts }: Pick<Filling, 'world' | 'accounts'>): ApiObject | undefined {
  const name = accountNameOf(secret, world.names)
  return world.read(accounts).get(`${secret.metadata.namespace}/${name}`)
}

async function liveAccount(
  secret: ApiObject,
  { world, accounts, signal }: Pick<Filling, 'world' | 'accounts' | 'signal'>,
): Promise<ApiObject | undefined> {
  const name = accountNameOf(secret, world.names)
  if (name === '') return undefined
  const { namespace } = secret.metadata
  return unlessGone(() => world.collection(accounts).get(name, { namespace, signal }))
}

export function accountNameOf({ metadata }: ApiObject, names: Names): string {
  return metadata.annotations?.[domainLabel(names, 'service-account.name')] ?? ''
}

/** True if a Secret may hold a token of the account: a Secret that names a uid belongs to that account alone. */
export function isTheirs({ metadata }: ApiObject, account: ApiObject, names: Names): boolean {
  const uid = metadata.annotations?.[domainLabel(names, 'service-account.uid')]
  return uid === undefined || uid === '' || account.metadata.uid === uid
}

function secretsOf(account: ApiObject): readonly { readonly name?: string }[] {
  return requireType('core/v1.ServiceAccount', account).secrets ?? []
}

export function refersTo(account: ApiObject, secret: string | undefined): boolean {
  return secretsOf(account).some(({ name }) => name === secret)
}

function dataIn(secret: ApiObject): Readonly<Record<string, string>> {
  return requireType('core/v1.Secret', secret).data ?? {}
}

/** True if the Secret holds all its required data. */
function isWhole(secret: ApiObject, { certificateAuthority }: SecretTokenOptions): boolean {
  const data = dataIn(secret)
  return (data['token'] ?? '') !== '' && (data['namespace'] ?? '') !== '' && data['ca.crt'] === inBase64(certificateAuthority)
}

/** The required data of the Secret. */
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
