let audio: AudioContext | undefined;

/** Plays two soft notes; silent where the browser blocks sound before the first click. */
export async function playNotificationSound(): Promise<void> {
  audio ??= new AudioContext();
  await audio.resume();
  for (const [index, pitch] of [660, 880].entries()) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const start = audio.currentTime + index * 0.18;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0, start);
    volume.gain.linearRampToValueAtTime(0.12, start + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.5);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 0.5);
  }
}
