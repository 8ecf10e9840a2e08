"""The formats and codecs that ffmpeg may read."""

# None of these demuxers opens other files or hosts, as hls, dash, concat, image2, and sdp do.
FORMATS = (
    "mov,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,obu,ivf,flv,live_flv,asf,ogg,mp3,"
    "flac,wav,w64,aac,ac3,eac3,dts,dtshd,truehd,aiff,au,amr,ape,caf,tta,tak,wv,mpc,mpc8,rm,dv,mxf,"
    "nut,gxf,wtv"
)
PROTOCOLS = "file,pipe,fd"

# Of some 500 decoders, those of codecs that people have. The others are seldom tested, and a hole
# in one of them would be open to every file. The names are the decoders', as mp3float for MP3.
DECODERS = (
    "av1,libdav1d,h264,hevc,vvc,vp8,vp9,mpeg1video,mpeg2video,mpeg4,msmpeg4v1,msmpeg4v2,msmpeg4,h263,"
    "h263p,flv,theora,vp3,vp6,vp6a,vp6f,wmv1,wmv2,wmv3,vc1,rv10,rv20,rv30,rv40,mjpeg,mjpegb,prores,"
    "dnxhd,dvvideo,ffv1,rawvideo,png,"
    "aac,aac_latm,mp1,mp1float,mp2,mp2float,mp3,mp3float,ac3,eac3,dca,truehd,mlp,flac,alac,ape,wavpack,tta,tak,"
    "mpc7,mpc8,opus,libopus,vorbis,libvorbis,speex,libspeex,wmav1,wmav2,wmapro,wmalossless,cook,amrnb,"
    "amrwb,libopencore_amrnb,libopencore_amrwb,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,adpcm_swf,"
    "pcm_alaw,pcm_mulaw,pcm_bluray,pcm_dvd,pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,"
    "pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,"
    "ass,ssa,subrip,srt,webvtt,mov_text,text,cc_dec,pgssub,dvdsub,dvbsub,xsub"
)
# What PyAV gives to every file that it opens.
LIMITS = {"format_whitelist": FORMATS, "codec_whitelist": DECODERS, "max_streams": "500"}
