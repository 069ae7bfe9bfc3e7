import { createCatalogue } from '@orch/core/catalogue'
import { silentLog, systemChance } from '@orch/platform'
import { defaultPluginSettings, type Inquiry, type PluginNeeds } from './plugin.ts'

/** The dependencies of a plugin over this storage. */
export function pluginNeeds(given: Pick<PluginNeeds, 'storage' | 'clock'> & Partial<PluginNeeds>): PluginNeeds {
  return {
    catalogue: createCatalogue('orch'),
    log: silentLog,
    random: () => 0,
    chance: systemChance,
    configuration: undefined,
    settings: defaultPluginSettings,
    ...given,
  }
}

/** An inquiry without answers of the authorizer. */
export const inquiry: Inquiry = {
  reinvocation: { isSecondRound: false, request: () => {}, memory: new Map() },
  context: {},
  explain: false,
  decisionOn: () => undefined,
}
