import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  type ClientConfiguration,
  createClient,
  createDiscoveryCache,
  createFileCache,
  createRetryingTransport,
  createTransport,
  loadConfiguration,
} from '@orch/client'
import { namesOf } from '@orch/core/names'
import { systemClock } from '@orch/platform'
import { Resources } from './resources.ts'
import type { CtlTerminal, StatusTerminal } from './terminal.ts'
import { CtlError, type FlagValues, type globalFlags } from './words.ts'

/** The default field manager of the client. */
export const clientName = 'orchctl'

/** Number of retries, as in client-go. */
const retriesMax = 10

type GlobalValues = FlagValues<typeof globalFlags>

/** A server, the user of the session, and the cached discovery. */
export type Session = Awaited<ReturnType<typeof openSession>>

/** The server that flags and the client configuration name. */
export async function openSession(terminal: StatusTerminal, flags: GlobalValues) {
  const configuration = await readConfiguration(terminal, flags)
  const surroundings = {
    now: () => systemClock.now(),
    env: terminal.env,
    isInteractive: terminal.isInteractive,
    say: (text: string) => terminal.error(text),
    lendTerminal: <T>(work: () => Promise<T>) => terminal.statusLine.suspendedWhile(work),
  }
  const transport = createTransport(configuration, surroundings, { headers: headersOf(flags) })
  const folder = terminal.env['KUBECACHEDIR'] ?? join(terminal.homeFolder, '.kube/cache')
  const cache = createFileCache(join(folder, clientName), configuration.server)
  const client = createClient(createDiscoveryCache(createRetryingTransport(transport, { retriesMax }), cache))
  const resources = new Resources(client)
  return {
    client,
    resources,
    /** The namespace of the flag, otherwise of the context, otherwise `default`. */
    namespace: flags.namespace ?? configuration.namespace ?? 'default',
    configuration,
    /** Names of the server's profile. */
    async names() {
      const all = await resources.all()
      const isKubernetes = all.some(({ group }) => group.endsWith(`.${namesOf('kubernetes').apiDomain}`))
      return namesOf(isKubernetes ? 'kubernetes' : 'orch')
    },
    close: () => client.close(),
  }
}

/** The candidate files of the client configuration; the first that exists is used. */
export function configurationFiles(
  { env, homeFolder, nearConfiguration }: Pick<CtlTerminal, 'env' | 'homeFolder' | 'nearConfiguration'>,
  kubeconfig: string | undefined,
): string[] {
  if (kubeconfig !== undefined) return [kubeconfig]
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  const home = join(homeFolder, '.kube/config')
  if (named.length > 0) return named
  return nearConfiguration === undefined ? [home] : [nearConfiguration, home]
}

async function readConfiguration(terminal: CtlTerminal, flags: GlobalValues): Promise<ClientConfiguration> {
  const files = configurationFiles(terminal, flags.kubeconfig)
  const file = files.find((name) => existsSync(name))
  if (file === undefined && flags.server === undefined) {
    throw new CtlError(
      `no client configuration found: ${files.join(', ')} ${files.length === 1 ? 'does' : 'do'} not exist; set KUBECONFIG, or give --kubeconfig or --server`,
    )
  }
  const context = flags.context === undefined ? {} : { context: flags.context }
  const read: ClientConfiguration = file === undefined ? { server: '' } : await loadConfiguration(file, context)
  const { clientCertificate: _certificate, clientKey: _key, exec: _exec, oidc: _oidc, ...anonymous } = read
  return {
    ...(flags.token === undefined ? read : { ...anonymous, token: flags.token }),
    ...(flags.server === undefined ? {} : { server: flags.server }),
    ...(flags['certificate-authority'] === undefined ? {} : { certificateAuthority: readFileSync(flags['certificate-authority'], 'utf8') }),
    ...(flags['insecure-skip-tls-verify'] ? { isInsecure: true } : {}),
  }
}

/** Headers of all requests: the name of the client, and the impersonated user. */
function headersOf({ as: user, 'as-group': groups, 'as-uid': uid }: GlobalValues): Record<string, string | readonly string[]> {
  return {
    'user-agent': clientName,
    ...(user === undefined ? {} : { 'impersonate-user': user }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
  }
}
