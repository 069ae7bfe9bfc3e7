/** Admission plugins that are switched on and off, as settings say it. */
interface PluginChoice {
  readonly enableAdmissionPlugins: readonly string[]
  readonly disableAdmissionPlugins: readonly string[]
}

/**
 * The plugins to disable with these controllers. Without the controller that makes service accounts every pod would be refused for
 * the lack of one.
 */
export function pluginsToDisable(
  { enableAdmissionPlugins, disableAdmissionPlugins }: PluginChoice,
  controllers: readonly string[],
): readonly string[] {
  const isUseful = controllers.includes('serviceaccount') || enableAdmissionPlugins.includes('ServiceAccount')
  return isUseful || disableAdmissionPlugins.includes('ServiceAccount')
    ? disableAdmissionPlugins
    : [...disableAdmissionPlugins, 'ServiceAccount']
}
