import { type Informer, type ResourceAddress, startInformer } from '@orch/client'
import {
  type ApiObject,
  accountUserName,
  domainLabel,
  type Names,
  printSecretClaims,
  type SecretClaims,
  StatusError,
  secretTokenIssuer,
  secretTokenType,
} from '@orch/core'
import { type SigningKey, sleep } from '@orch/platform'
import type { Controller } from '../controller.ts'
import { createWorkqueue } from '../workqueue.ts'
import { secrets } from './bootstrap-secrets.ts'

export interface SecretTokenOptions {
  readonly signingKey: SigningKey
  /** PEM; by it the holder of a token knows the server. */
  readonly certificateAuthority: string
}

const serviceAccounts: ResourceAddress = { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }

/** Fills Secrets of the type for tokens of service accounts, and deletes those whose account is gone. */
export function secretTokenController(options: SecretTokenOptions): Controller {
  return {
    name: 'serviceaccount-token',
    async run({ client, names, clock, random, log, signal }) {
      const collection = client.resource(secrets)
      const fill = async (key: string): Promise<void> => {
        await Promise.race([Promise.all([informer.synced, accounts.synced]), informer.done])
        if (signal.aborted) return
        const [namespace = '', name = ''] = key.split('/')
        const secret = informer.get(name, namespace)
        if (secret === undefined || secret.metadata.deletionTimestamp != null) return
        const account = accountOf(secret, accounts, names)
        if (account === 'gone') return deleteSecret(secret)
        if (account === undefined) return
        const data = await dataOf(secret, account, names, options)
        if (data === undefined) return
        const annotations = { ...secret.metadata.annotations, [domainLabel(names, 'service-account.uid')]: account.metadata.uid ?? '' }
        await collection.update({ ...secret, metadata: { ...secret.metadata, annotations }, data }, { signal })
      }
      const deleteSecret = async ({ metadata: { name = '', namespace, uid } }: ApiObject): Promise<void> => {
        try {
          await collection.delete(name, { namespace, signal }, uid === undefined ? {} : { preconditions: { uid } })
        } catch (error) {
          if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error
        }
      }
      const queue = createWorkqueue({
        work: fill,
        onError: (key, error) => log.debug({ secret: key, err: error }, 'the Secret of a service account could not be filled yet'),
        clock,
        random,
        workersMax: 2,
      })
      const common = { signal, sleep: (delayMs: number, ending: AbortSignal) => sleep(clock, delayMs, ending), random }
      const onError = (error: unknown) => log.debug({ err: error }, 'service accounts or their Secrets are listed or watched again')
      const informer = startInformer({
        ...common,
        resource: client.resource(secrets),
        select: { fieldSelector: `type=${secretTokenType(names)}` },
        onEvent: ({ object }) => queue.add(keyOf(object)),
        onError,
      })
      const accounts = startInformer({
        ...common,
        resource: client.resource(serviceAccounts),
        onEvent: ({ object: { metadata } }) => {
          for (const secret of informer.values()) {
            const isTheirs = secret.metadata.namespace === metadata.namespace && accountNameOf(secret, names) === metadata.name
            if (isTheirs) queue.add(keyOf(secret))
          }
        },
        onError,
      })
      await Promise.all([informer.done, accounts.done])
      await queue.close()
    },
  }
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace}/${name}`
}

function accountNameOf({ metadata }: ApiObject, names: Names): string {
  return metadata.annotations?.[domainLabel(names, 'service-account.name')] ?? ''
}

/** The account that a Secret is of; `gone`: it was of one that is not there any more. */
function accountOf(secret: ApiObject, accounts: Informer<ApiObject>, names: Names): ApiObject | 'gone' | undefined {
  const account = accounts.get(accountNameOf(secret, names), secret.metadata.namespace)
  const uid = secret.metadata.annotations?.[domainLabel(names, 'service-account.uid')]
  if (uid === undefined || uid === '') return account
  return account?.metadata.uid === uid ? account : 'gone'
}

/** What the Secret has to hold; undefined: it holds it already. */
async function dataOf(
  secret: ApiObject,
  account: ApiObject,
  names: Names,
  { signingKey, certificateAuthority }: SecretTokenOptions,
): Promise<Record<string, string> | undefined> {
  const { namespace = '', name: secretName = '' } = secret.metadata
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>
  const authority = Buffer.from(certificateAuthority).toString('base64')
  const isWhole = (data['token'] ?? '') !== '' && (data['namespace'] ?? '') !== '' && data['ca.crt'] === authority
  if (isWhole) return undefined
  const { name = '', uid = '' } = account.metadata
  const token =
    data['token'] || Buffer.from(await sign({ namespace, secretName, account: { name, uid } }, names, signingKey)).toString('base64')
  return { ...data, token, 'ca.crt': authority, namespace: data['namespace'] || Buffer.from(namespace).toString('base64') }
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
