import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { ConfigurationError, createClient, createTransport, loadConfiguration } from '@orch/client'
import { configurationFiles } from '@orch/ctl'
import { settingsOf, settingTypes, systemClock } from '@orch/platform'
import { nearConfiguration } from '../ctl.ts'
import type { Terminal } from '../process/terminal.ts'
import { StartError } from '../start-error.ts'

const { string } = settingTypes
const setting = settingsOf('Cluster')

/** The settings of a command that is a client of a server. */
export const clusterSettings = {
  kubeconfig: setting(
    { flag: '--kubeconfig', type: string, defaultDoc: 'those of KUBECONFIG, that of a server started here, or ~/.kube/config' },
    'Client configuration file.',
  ),
  context: setting({ flag: '--context', type: string, defaultDoc: 'the current one' }, 'Context of the client configuration.'),
}

/** Connects to the server of the settings or the environment. */
export async function openCluster(terminal: Terminal, { kubeconfig, context }: { readonly kubeconfig: string; readonly context: string }) {
  const { env, error, workingFolder } = terminal
  const given = kubeconfig === '' ? undefined : resolve(workingFolder, kubeconfig)
  const files = configurationFiles({ env, homeFolder: homedir(), ...(await nearConfiguration(terminal)) }, given)
  const file = files.find((name) => existsSync(name))
  if (file === undefined) throw new StartError(`no client configuration found: ${files.join(', ')}; give one with --kubeconfig`)
  const configuration = await loadConfiguration(file, context === '' ? {} : { context }).catch((cause) => {
    throw cause instanceof ConfigurationError ? new StartError(`${file}: ${cause.message}`, { cause }) : cause
  })
  const transport = createTransport(configuration, { now: () => systemClock.now(), env, isInteractive: false, say: error })
  return { client: createClient(transport), transport }
}
