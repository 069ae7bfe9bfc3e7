import { faultsGroup } from '@orch/core/names'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { isLoopback } from '../serving/loopback.ts'

/** The file of the data folder with the URL and the token of the control. */
export const controlFile = 'control.json'

const { bool } = settingTypes
const setting = settingsOf('Tests')

/** The settings of gateways for tests. */
export const testSettings = {
  faultInjection: setting(
    { flag: '--fault-injection', type: bool, default: 'false' },
    `Makes the kind FaultRule (${faultsGroup}/v1), whose objects delay, refuse, cut off or lose requests.`,
  ),
  testsBeyondLoopback: setting(
    { flag: '--tests-beyond-loopback', type: bool, default: 'false' },
    'Accepts --control and --fault-injection on an address of --bind-address that other machines reach: a client with the right may do everything, or disturb others.',
  ),
}

/** Refuses faults that could affect others. */
export function checkTests({
  faultInjection,
  testsBeyondLoopback,
  bindAddress,
}: Values<typeof testSettings> & { readonly bindAddress: string }): void {
  if (faultInjection && !testsBeyondLoopback && !isLoopback(bindAddress))
    throw new SettingsError(
      `--fault-injection with --bind-address=${bindAddress}: faults would hit clients of other machines; use a loopback address, or add --tests-beyond-loopback`,
    )
}

/** The settings of a server that a test controls. */
export const controlSettings = {
  control: setting(
    { flag: '--control', type: bool, default: 'false' },
    'Serves /orch/v1, by which a test in any language reads requests, adds faults, makes users and forks, resets the server and moves its clock. The file control.json of the data folder has its URL and token.',
  ),
  virtualClock: setting(
    { flag: '--virtual-clock', type: bool, default: 'false' },
    'Time stands still until /orch/v1/clock moves it; with --control.',
  ),
}

type ControlValues = Values<typeof controlSettings> &
  Values<typeof testSettings> & {
    readonly bindAddress: string
    readonly distributed: boolean
    readonly threads: number
  }

/** Refuses settings that would open a test server to others. */
export function checkControl({ control, virtualClock, testsBeyondLoopback, bindAddress, distributed, threads }: ControlValues): void {
  if (control && distributed) throw new SettingsError('--control with --distributed: a test controls one process alone')
  if (control && threads > 1) throw new SettingsError('--control with --threads: a test controls a server of one thread alone')
  if (virtualClock && !control) throw new SettingsError('--virtual-clock needs --control: nothing else moves the clock')
  if (control && !testsBeyondLoopback && !isLoopback(bindAddress))
    throw new SettingsError(
      `--control with --bind-address=${bindAddress}: any client that reaches that address could try to; use a loopback address, or add --tests-beyond-loopback`,
    )
}
