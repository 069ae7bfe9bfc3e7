import { knownReleases, printRelease } from '@orch/core/feature-gates'

/** The release of this program. */
export const productVersion = '0.1.0'

/** The default API level. */
export const defaultRelease = printRelease(knownReleases.byDefault)

/** The first release whose `/version` contains emulation fields. */
const emulationSince = 32

/** The contents of `/version` at a level (minor version), as a server of that release without emulation returns them. */
export function versionInfo(level: number) {
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  return {
    major: '1',
    minor: String(level),
    ...(level < emulationSince ? {} : emulation(level)),
    gitVersion: `v${printRelease(level)}.0+orch-${productVersion}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'tsc',
    platform: `${process.platform === 'win32' ? 'windows' : process.platform}/${machine}`,
  }
}

/** Like kube-apiserver, the server is compatible with the previous release. */
function emulation(level: number) {
  return {
    emulationMajor: '1',
    emulationMinor: String(level),
    minCompatibilityMajor: '1',
    minCompatibilityMinor: String(level - 1),
  }
}
