import { knownReleases, printRelease } from '@orch/core/feature-gates'

/** The release of this program. */
export const productVersion = '0.1.0'

/** The API level that is served unless another one is asked for. */
export const defaultRelease = printRelease(knownReleases.byDefault)

/** The first release whose `/version` tells of emulation. */
const emulationSince = 32

/** The contents of `/version` at a level, by its minor number: those of a server of that release, which emulates none but itself. */
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

/** Compatibility reaches back to the release before, as that of kube-apiserver does. */
function emulation(level: number) {
  return {
    emulationMajor: '1',
    emulationMinor: String(level),
    minCompatibilityMajor: '1',
    minCompatibilityMinor: String(level - 1),
  }
}
