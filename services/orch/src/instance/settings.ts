import { profiles } from '@orch/core/names'
import { settingsOf, settingTypes } from '@orch/platform'
import { generalSettings } from '../settings/general.ts'
import { stateSettings } from '../storage/settings.ts'

const { bool, duration, oneOf, string } = settingTypes
const inServer = settingsOf('Server')
const inClientConfiguration = settingsOf('Client configuration')

/** The selection of a server on this machine, for every command about a server. */
export const instanceSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  dataDir: { ...stateSettings.dataDir, doc: 'Data folder of the server.', group: 'Server' },
  profile: inServer(
    { flag: '--profile', type: oneOf(['', ...profiles]), defaultDoc: 'any' },
    'Profile of the server, where --data-dir is not given.',
  ),
}

/** All settings of `orch status`. */
export const statusSettings = instanceSettings

/** All settings of `orch console`. */
export const consoleSettings = instanceSettings

/** All settings of `orch stop`. */
export const stopSettings = {
  ...instanceSettings,
  timeout: inServer(
    { flag: '--timeout', env: 'ORCH_STOP_TIMEOUT', type: duration, default: '60s' },
    'Longest wait for the end of the server. It is not killed afterwards.',
  ),
}

/** All settings of `orch reset`. */
export const resetSettings = {
  ...instanceSettings,
  yes: inServer(
    { flag: '--yes', env: 'ORCH_RESET_YES', type: bool, default: 'false' },
    'Deletes the objects; without it the command only prints what it would delete.',
  ),
}

/** All settings of `orch kubeconfig`. */
export const kubeconfigSettings = {
  ...instanceSettings,
  user: inClientConfiguration(
    { flag: '--user', env: 'ORCH_KUBECONFIG_USER', type: string, defaultDoc: 'the administrator' },
    'Prints the configuration of a user of this name, with all rights, whom a server of orch up --control makes where it has none.',
  ),
  merge: inClientConfiguration(
    { flag: '--merge', env: 'ORCH_KUBECONFIG_MERGE', type: bool, default: 'false' },
    'Adds the server to the client configuration of the user (KUBECONFIG, or ~/.kube/config) and makes it the current context, in place of printing it.',
  ),
  remove: inClientConfiguration(
    { flag: '--remove', env: 'ORCH_KUBECONFIG_REMOVE', type: bool, default: 'false' },
    'Takes out of the client configuration of the user what --merge has added, and makes the context current again that was current before.',
  ),
  context: inClientConfiguration(
    { flag: '--context', env: 'ORCH_KUBECONFIG_CONTEXT', type: string, defaultDoc: 'orch-<profile>' },
    'Name of the context, the cluster and the user that --merge adds and --remove takes out.',
  ),
}
