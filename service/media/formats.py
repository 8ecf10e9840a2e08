"""The formats that ffmpeg may read."""

# None of these demuxers opens other files or hosts, as hls, dash, concat, image2, and sdp do.
FORMATS = (
    "mov,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,obu,ivf,flv,live_flv,asf,ogg,mp3,"
    "flac,wav,w64,aac,ac3,eac3,dts,dtshd,truehd,aiff,au,amr,ape,caf,tta,tak,wv,mpc,mpc8,rm,dv,mxf,"
    "nut,gxf,wtv"
)
PROTOCOLS = "file,pipe,fd"
