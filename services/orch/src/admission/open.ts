import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type Admission,
  ConfigurationError,
  choosePlugins,
  createAdmission,
  type ManifestFile,
  type ManifestPlugin,
  Manifests,
  manifestPlugins,
  manifestsFolderKey,
  type PluginConfiguration,
  type PluginSettings,
  parseAdmissionConfiguration,
  parseWebhookCredentials,
  pluginFilesOf,
  readImagePolicy,
  readManifests,
} from '@orch/admission'
import type { NodesService, StorageService } from '@orch/core/contracts'
import { loadYamlFile, type Metrics, SettingsError, systemCodeOf } from '@orch/platform'
import { conversionMetricsOf } from '@orch/platform/conversion'
import type { WebhookCredentials } from '@orch/platform/webhooks'
import { declareReloads, ReloadedFile } from '../configuration/files.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import type { AdmissionSettings } from './settings.ts'

const flag = '--admission-control-config-file'

interface AdmissionParts {
  readonly storage: StorageService
  /** The connections to simulated Pods, which may serve webhooks; undefined for none. */
  readonly nodes: NodesService | undefined
  readonly admission: AdmissionSettings
  readonly metrics: Metrics
  /** The server that this one continues. Then the plugins are created with the first call: many forks of tests never write. */
  readonly base?: object | undefined
}

/** Admission over storage. */
export async function openAdmission(
  { storage, nodes, admission, metrics, base }: AdmissionParts,
  surroundings: Surroundings,
): Promise<Admission> {
  const { catalogue, chance, clock, lifecycle, log, tracer, faults } = surroundings
  const { plugins, configFile } = admission
  const configurations = configFile === undefined ? undefined : await readConfigurations(configFile, surroundings)
  const known = await withFiles(admission, configurations, { ...surroundings, metrics })
  const settings = await withImageReviews(known, admission, configurations, surroundings)
  const conversionMetrics = conversionMetricsOf(metrics)
  const create = () =>
    createAdmission({
      storage,
      nodes,
      catalogue,
      clock,
      log,
      random: chance.fraction,
      chance,
      tracer,
      conversionMetrics,
      calls: faults?.calls,
      plugins,
      configurations,
      settings,
    })
  const isLate = base !== undefined && configurations === undefined
  // The names of plugins are checked in any case.
  if (isLate) refusing(configFile, () => choosePlugins(plugins, catalogue.level))
  return lifecycle.opened('admission', isLate ? onDemand(create) : refusing(configFile, create))
}

/** Admission that is created by its first call. */
function onDemand(create: () => Admission): Admission {
  let created: Admission | undefined
  const opened = () => {
    created ??= create()
    return created
  }
  return {
    admit: (request, context) => opened().admit(request, context),
    outcome: (outcome, context) => opened().outcome(outcome, context),
    admissionRules: (request, context) => opened().admissionRules(request, context),
    close: () => created?.close(),
  }
}

/** The settings of plugins, with the files in their configurations: the server's credentials for webhooks, and manifests. */
async function withFiles(
  { configFile, settings }: AdmissionSettings,
  configurations: ReadonlyMap<string, PluginConfiguration> | undefined,
  surroundings: Surroundings & { readonly metrics: Metrics },
): Promise<PluginSettings> {
  if (configurations === undefined) return settings
  try {
    const files = manifestPlugins.flatMap((plugin) => {
      const configuration = configurations.get(plugin)
      return configuration?.value == null ? [] : [{ plugin, ...pluginFilesOf(plugin, configuration, surroundings.catalogue) }]
    })
    const folders = files.flatMap(({ plugin, manifestsFolder: folder }) => (folder === undefined ? [] : [{ plugin, folder }]))
    return {
      ...settings,
      webhookCredentials: await readWebhookCredentials(flag, files),
      manifests: await openManifests(folders, surroundings),
    }
  } catch (error) {
    throw asSettingsError(error, configFile)
  }
}

/** The settings of plugins, with a connection to the server for images if needed. */
async function withImageReviews(
  settings: PluginSettings,
  { plugins, configFile }: AdmissionSettings,
  configurations: ReadonlyMap<string, PluginConfiguration> | undefined,
  surroundings: Surroundings,
): Promise<PluginSettings> {
  const { lifecycle, catalogue } = surroundings
  const { names, level } = catalogue
  const configuration = configurations?.get('ImagePolicyWebhook')
  if (configuration === undefined || !choosePlugins(plugins, level).includes('ImagePolicyWebhook')) return settings
  const { clientConfigFile } = refusing(configFile, () => readImagePolicy(configuration, names))
  const file = { flag: `${flag}=${configFile}: imagePolicy.${names.clientConfigFileKey}`, path: clientConfigFile, to: 'images/webhook' }
  const sender = lifecycle.opened('image reviews', await openWebhookSender(file, surroundings))
  return { ...settings, imageReviews: (body, timeoutMs) => sender.send(body, timeoutMs) }
}

/** The file's configuration of each plugin; paths in it are relative to its folder. */
async function readConfigurations(file: string, { catalogue: { names } }: Surroundings): Promise<ReadonlyMap<string, PluginConfiguration>> {
  const document = await loadYamlFile(flag, file)
  const configurations = new Map<string, PluginConfiguration>()
  for (const plugin of refusing(file, () => parseAdmissionConfiguration(document, names))) {
    switch (plugin.kind) {
      case 'inline':
        configurations.set(plugin.name, { value: plugin.value, file })
        break
      case 'file': {
        const path = resolve(dirname(file), plugin.path)
        configurations.set(plugin.name, { value: await loadYamlFile(flag, path), file: path })
      }
    }
  }
  return configurations
}

/** A plugin with an invalid configuration is an error of the operator. */
function refusing<T>(file: string | undefined, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw asSettingsError(error, file)
  }
}

function asSettingsError(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof ConfigurationError)) return error
  return new SettingsError(file === undefined ? error.message : `${flag}=${file}: ${error.message}`)
}

/** The server's credentials for webhooks, by plugin: from the client configuration files in the plugins' configurations. */
async function readWebhookCredentials(
  flag: string,
  files: readonly { readonly plugin: string; readonly clientConfigFile: string | undefined }[],
): Promise<ReadonlyMap<string, WebhookCredentials>> {
  const credentials = new Map<string, WebhookCredentials>()
  for (const { plugin, clientConfigFile: file } of files) {
    if (file === undefined) continue
    const document = await loadYamlFile(flag, file)
    credentials.set(
      plugin,
      parseWebhookCredentials(document, (path) => readBeside(file, path)),
    )
  }
  return credentials
}

function readBeside(file: string, path: string): string {
  try {
    return readFileSync(resolve(dirname(file), path), 'utf8')
  } catch (error) {
    throw new ConfigurationError(`${file}: ${path} cannot be read (${systemCodeOf(error)})`, { cause: error })
  }
}

const what = 'admission manifest'
const extensions: readonly string[] = ['.yaml', '.yml', '.json']

/** The folder with the manifests of a plugin. */
interface ManifestFolder {
  readonly plugin: ManifestPlugin
  readonly folder: string
}

/** The objects in the folders of manifests, by plugin. A change of the files replaces them. Rejects for an invalid file. */
export async function openManifests(
  folders: readonly ManifestFolder[],
  { metrics, catalogue, clock, lifecycle, log }: Surroundings & { readonly metrics: Metrics },
): Promise<ReadonlyMap<string, Manifests>> {
  const opened = new Map<string, Manifests>()
  if (folders.length === 0) return opened
  const reloads = declareReloads(metrics, what, 'manifest_admission', ['plugin'])
  for (const { plugin, folder } of folders) {
    const flag = `${plugin}: ${manifestsFolderKey}`
    let files: readonly ManifestFile[] = []
    let parsed: ReturnType<typeof readManifests> | undefined
    const read = () => {
      const present = filesOf(flag, folder)
      if (!isDeepStrictEqual(present, files)) parsed = undefined
      files = present
      return { given: files, text: files.map(({ text }) => (text === '' ? '' : `${text}\0`)).join('') }
    }
    // Files that are refused are parsed once.
    const parse = () => {
      parsed ??= readManifests(files, plugin, catalogue)
      return parsed
    }
    const file = new ReloadedFile({ flag, file: folder, what, read, parse, log })
    const manifests = new Manifests(await file.read())
    file.count(reloads, clock, { plugin })('success')
    const following = file.follow(clock, (objects) => manifests.replace(objects))
    lifecycle.onStop(`reload of the manifests of ${plugin}`, () => following.stop())
    opened.set(plugin, manifests)
  }
  return opened
}

/** The files of a folder, by name. Folders, pipes and devices, and links to them, are passed over. */
function filesOf(flag: string, folder: string): readonly ManifestFile[] {
  let path = folder
  try {
    return readdirSync(folder)
      .filter((name) => extensions.includes(extname(name).toLowerCase()))
      .toSorted()
      .flatMap((name) => {
        path = join(folder, name)
        return statSync(path).isFile() ? [{ path, text: readFileSync(path, 'utf8') }] : []
      })
  } catch (error) {
    throw new SettingsError(`${flag}=${folder}: ${path} cannot be read (${systemCodeOf(error)})`)
  }
}
