import { type Admission, admissionOf } from './ask.ts'
import type { PluginConfiguration } from './configuration.ts'
import { defaultPluginSettings, type PluginNeeds, type PluginSettings } from './plugin.ts'
import { checkConfigured, choosePlugins, createPlugins, type PluginChoice } from './registry.ts'

export interface AdmissionOptions
  extends Pick<
    PluginNeeds,
    'storage' | 'nodes' | 'catalogue' | 'clock' | 'log' | 'random' | 'chance' | 'tracer' | 'conversionMetrics' | 'calls'
  > {
  /** The selection of plugins; kube-apiserver's usual ones by default. */
  readonly plugins?: PluginChoice | undefined
  /** Configurations by plugin name. */
  readonly configurations?: ReadonlyMap<string, PluginConfiguration> | undefined
  readonly settings?: PluginSettings | undefined
}

const noChoice: PluginChoice = { enabled: [], disabled: [] }

/** The selected plugins in call order. Throws a ConfigurationError if a plugin cannot be created with its configuration. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { settings = defaultPluginSettings, catalogue } = options
  for (const [name, { value }] of options.configurations ?? []) checkConfigured(name, value != null, catalogue.level)
  /** The configuration of a plugin without a document. */
  const configurationOf = (name: string): PluginConfiguration | undefined => {
    const configuration = options.configurations?.get(name)
    return configuration?.value == null ? undefined : configuration
  }
  const needsOf = (name: string): PluginNeeds => ({ ...options, settings, configuration: configurationOf(name) })
  return admissionOf(createPlugins(choosePlugins(options.plugins ?? noChoice, catalogue.level), needsOf), options)
}
