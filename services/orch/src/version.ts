/** The release of this program. */
export const productVersion = '0.1.0'

/** The API level that it serves. */
const apiLevel = { major: '1', minor: '25' }

/** The release that it is like. */
export const apiRelease = `${apiLevel.major}.${apiLevel.minor}`
export const previousRelease = `${apiLevel.major}.${Number(apiLevel.minor) - 1}`

/** The contents of `/version`, with the emulated release. */
export function versionInfo(emulated?: number) {
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  return {
    ...apiLevel,
    ...(emulated === undefined ? {} : emulation(emulated)),
    gitVersion: `v${apiLevel.major}.${apiLevel.minor}.0+orch-${productVersion}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'tsc',
    platform: `${process.platform === 'win32' ? 'windows' : process.platform}/${machine}`,
  }
}

/** Compatibility reaches back to the release before, as that of kube-apiserver does. */
function emulation(minor: number) {
  const { major } = apiLevel
  return {
    emulationMajor: major,
    emulationMinor: String(minor),
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(minor - 1),
  }
}
