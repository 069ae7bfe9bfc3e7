import { type AdmissionRule, type AdmissionRuleIndex, type AdmissionService, createAdmissionRuleIndex } from '@orch/core/contracts'
import { badRequest, serviceUnavailable } from '@orch/core/meta'
import { ask } from './ask.ts'
import type { PluginConfiguration } from './configuration.ts'
import { defaultPluginSettings, type Plugin, type PluginNeeds, type PluginSettings } from './plugin.ts'
import { checkConfigured, choosePlugins, createPlugins, type PluginChoice } from './registry.ts'
import { streamAdmissionRules } from './stream-rules.ts'

export interface AdmissionOptions extends Pick<PluginNeeds, 'storage' | 'catalogue' | 'clock' | 'log' | 'random' | 'tracer'> {
  /** Default: those that are on by default. */
  readonly plugins?: PluginChoice | undefined
  /** By name of the plugin. */
  readonly configurations?: ReadonlyMap<string, PluginConfiguration> | undefined
  readonly settings?: PluginSettings | undefined
}

/** The admission service, and its end. */
export interface Admission extends AdmissionService {
  close(): void
}

const noChoice: PluginChoice = { enabled: [], disabled: [] }

/** The chosen plugins in the order in which they are asked. Throws a ConfigurationError where a plugin cannot be made as configured. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { storage, catalogue, clock, log, random, tracer, settings = defaultPluginSettings } = options
  for (const [name, { value }] of options.configurations ?? []) checkConfigured(name, value != null)
  /** The configuration of a plugin that is only named. */
  const configurationOf = (name: string): PluginConfiguration | undefined => {
    const configuration = options.configurations?.get(name)
    return configuration?.value == null ? undefined : configuration
  }
  const needsOf = (name: string): PluginNeeds => {
    return { storage, catalogue, clock, log, random, tracer, settings, configuration: configurationOf(name) }
  }
  return admissionOf(createPlugins(choosePlugins(options.plugins ?? noChoice), needsOf), options)
}

/** The service over plugins that are made already, asked in the given order. */
function admissionOf(plugins: readonly Plugin[], options: Pick<AdmissionOptions, 'clock' | 'storage' | 'tracer'>): Admission {
  const { clock, storage, tracer } = options
  const closed = new AbortController()
  const indexedRules = new PluginIndex(plugins)
  return {
    admit(request, context = {}) {
      if (closed.signal.aborted) return Promise.reject(serviceUnavailable('admission is ending'))
      const { phase, attributes } = request
      if (phase !== 'mutate' && phase !== 'validate') {
        return Promise.reject(badRequest(`phase: expected mutate or validate, got "${phase}"`))
      }
      const plugins = indexedRules.index.find(phase, attributes)
      const validating = phase === 'mutate' ? indexedRules.index.find('validate', attributes) : []
      try {
        return Promise.resolve(ask(request, phase, { plugins, validating, clock, context, tracer }))
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async outcome(outcome) {
      for (const plugin of plugins) await plugin.settle?.(outcome)
      return {}
    },
    admissionRules(_request, context) {
      const sources = () => plugins.flatMap((plugin) => plugin.admissionRuleSources?.() ?? [])
      const made = () => ({ admissionRules: indexedRules.admissionRules, sources: sources() })
      return streamAdmissionRules({
        made,
        onChange: (listener) => indexedRules.onChange(listener),
        clock,
        storage,
        closed: closed.signal,
        context,
      })
    },
    close() {
      closed.abort()
      for (const plugin of plugins) plugin.close()
    },
  }
}

/** Which plugin each admission rule belongs to, made anew when the admission rules of a plugin have changed. */
class PluginIndex {
  readonly #plugins: readonly Plugin[]
  readonly #listeners = new Set<() => void>()
  #index: AdmissionRuleIndex<Plugin> | undefined
  #admissionRules: readonly AdmissionRule[] | undefined

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = plugins
    for (const plugin of plugins) plugin.onAdmissionRulesChange?.(() => this.#changed())
  }

  get index(): AdmissionRuleIndex<Plugin> {
    this.#index ??= createAdmissionRuleIndex(
      this.#plugins.flatMap((value) => value.admissionRules.map((admissionRule) => ({ admissionRule, value }))),
    )
    return this.#index
  }

  get admissionRules(): readonly AdmissionRule[] {
    this.#admissionRules ??= this.#plugins.flatMap((plugin) => plugin.admissionRules)
    return this.#admissionRules
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(): void {
    this.#index = undefined
    this.#admissionRules = undefined
    for (const listener of this.#listeners) listener()
  }
}
